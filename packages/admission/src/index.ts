/**
 * The one write path: whatever surface a wish comes through, its references, quota and addresses are checked here and
 * committed in one transaction. It never answers a protocol's words; it throws the model's errors.
 */
export * from './admission.ts'
export type { RandomSource } from './context.ts'
export * from './node-link.ts'
export * from './store-admission.ts'
export * from './store-view.ts'
export * from './view.ts'
