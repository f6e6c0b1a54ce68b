/** A node in memory, and entries for it. Only tests import this. */
export * from './entries.ts'
export * from './recorded-node.ts'
