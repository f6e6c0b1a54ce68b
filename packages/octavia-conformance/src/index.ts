/**
 * Checks any Octavia as a plain tenant sees it, for `spout conformance`: it makes load balancers with all that the v2 API
 * has, compares what is shown, and takes everything away. It knows the API alone, and nothing of Spout.
 */
export { randomFrom } from './random.ts'
export { type Result, report } from './result.ts'
export { cleanUp, PARTS, type Part, type RunOptions, runChecks } from './run.ts'
export type { TrafficMember } from './traffic.ts'
