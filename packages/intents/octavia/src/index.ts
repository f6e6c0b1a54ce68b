/**
 * The intent for the OpenStack Octavia v2 API: unmodified clients create, change and read load balancers with it.
 *
 * Octavia's names stay in this package. Its attribute tables (`resources/`) turn requests into the model
 * (`to-model.ts`), and model and status into replies (`write-back.ts`). All writes go through admission. It stores
 * nothing and has no state.
 */
export * from './access/context.ts'
export { DEFAULT_POLICY_SET, POLICY_SET_NAMES, type PolicySetName } from './access/policies.ts'
export { octaviaApi } from './octavia-api.ts'
export { settleWithin } from './snapshots/settling.ts'
export { NOOP_POOL } from './to-model/noop-vips.ts'
