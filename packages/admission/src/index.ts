/**
 * The one write path. Whatever surface a request comes from, its references, quota and addresses are checked here and
 * committed in one transaction. It knows no protocol: it throws the model's errors.
 *
 * The contract is `@spout/admission/contract`. This index exports the classes that implement it, for apps and tests.
 */
export type { RandomSource } from './claims/context.ts'
export { HOST_RULES, type HostRule } from './claims/host-rule.ts'
export * from './store-admission.ts'
export * from './view/store-view.ts'
