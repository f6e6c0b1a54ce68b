/** Versioned object storage with one change log: the contract, and the memory and sqlite engines. It never looks into a value. */
export * from './store.ts'
