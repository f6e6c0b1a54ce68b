/** The engine for several processes: a PostgreSQL database. It is apart from `@spout/store`, since its client is loaded only where it is used. */
export * from './postgres-store.ts'
export * from './server-states.ts'
export * from './settings.ts'
