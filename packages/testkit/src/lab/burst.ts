import path from 'node:path'

/** A Python program that sends many packets at once from its place; its first lines describe its arguments. */
export const BURST_PROGRAM = path.join(import.meta.dirname, 'burst.py')
