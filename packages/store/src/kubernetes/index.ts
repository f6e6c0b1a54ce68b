/** The engine that keeps a store in the API of a Kubernetes cluster. It is apart from `@spout/store`, since its client is loaded only where it is used. */
export * from './kubernetes-store.ts'
export { STORE_RECORDS, storeRecordCrd } from './record.ts'
