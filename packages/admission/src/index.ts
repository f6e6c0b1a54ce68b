/**
 * The one write path: whatever surface a request comes through, its references, quota and addresses are checked here and
 * committed in one transaction. It never answers a protocol's words; it throws the model's errors.
 *
 * The contract is `@spout/admission/contract`; here are the classes behind it, for apps and tests to put together.
 */
export type { RandomSource } from './context.ts'
export * from './store-admission.ts'
export * from './store-view.ts'
