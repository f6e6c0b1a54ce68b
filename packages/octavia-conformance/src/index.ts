/**
 * Checks any Octavia as a plain tenant sees it, for `spout conformance`: it creates load balancers with everything that
 * the v2 API has, compares what is shown, and deletes everything. It knows the API alone, and nothing of Spout.
 */
export { randomFrom } from './random.ts'
export { type Result, report } from './result.ts'
export { cleanUp, PARTS, type Part, type RunOptions, runChecks } from './run.ts'
export type { TrafficMember } from './traffic.ts'
