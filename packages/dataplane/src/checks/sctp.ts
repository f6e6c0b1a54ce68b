import type { CheckResult, CheckTarget, HealthCheck } from '../contracts/check.ts'
import { connectFailure, type ProbePlace, type SctpProber } from './connector.ts'

/** Up when the endpoint answers an SCTP INIT with a valid INIT ACK (RFC 9260). No association is opened. */
export const sctpCheck = (prober: SctpProber, place: ProbePlace) =>
  ({
    type: 'sctp',
    run: async ({ address, port, domain, spec }: CheckTarget, signal?: AbortSignal): Promise<CheckResult> => {
      const answer = await prober.sctp({ netns: place(domain), address, port, timeoutMs: spec.timeoutMs }, signal)
      const reason = answer.accepted ? null : describe(answer.reason, answer.cause, spec.timeoutMs)
      return { ok: answer.accepted, reason, durationMs: answer.durationMs }
    },
  }) satisfies HealthCheck

/** RFC 9260 section 3.3.10: causes that may answer an INIT. */
const CAUSES: Readonly<Record<number, string>> = {
  2: 'missing mandatory parameter',
  4: 'out of resource',
  5: 'unresolvable address',
  7: 'invalid mandatory parameter',
  8: 'unrecognized parameters',
  11: 'restart with new addresses',
  12: 'user-initiated abort',
  13: 'protocol violation',
}

/** Describes a failure in our own words, so that no text of the member is in it. */
function describe(reason: string, cause: number | null, timeoutMs: number): string {
  if (reason === 'wrong checksum') return 'the answer has a wrong checksum'
  if (reason === 'malformed answer') return 'the answer is not a valid INIT ACK'
  if (reason !== 'aborted') return connectFailure(reason, timeoutMs)
  return cause === null ? 'refused the association' : `refused the association (${CAUSES[cause] ?? `cause ${cause}`})`
}
