/**
 * Versioned object storage with one change log: the contract, and the memory and sqlite engines. It does not interpret
 * values.
 */
export type { Retention } from './change-log.ts'
export * from './copy-objects.ts'
export * from './leases/leased-store.ts'
export * from './leases/leases.ts'
export * from './memory/memory-store.ts'
export * from './postgres/server-address.ts'
export * from './sqlite/sqlite-store.ts'
export * from './store.ts'
