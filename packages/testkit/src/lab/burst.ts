import path from 'node:path'

/** A Python program that sends many packets at once from the place in which it runs; its first lines say what it takes. */
export const BURST_PROGRAM = path.join(import.meta.dirname, 'burst.py')
