/**
 * The OpenStack Octavia v2 API as a way in: unmodified clients create, change and read load balancers with it.
 *
 * Octavia's words stay in this package. Its tables of attributes (`resources/`) turn requests into the neutral model
 * (`to-model.ts`) and model and status back into replies (`write-back.ts`); writes go through admission alone. It never
 * stores anything itself and holds no state.
 */
export * from './context.ts'
export { octaviaApi } from './octavia-api.ts'
