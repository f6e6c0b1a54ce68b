/** A node made of memory, and entries for it: imported by tests alone. */
export * from './entries.ts'
export * from './recorded-node.ts'
