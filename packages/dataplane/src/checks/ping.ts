import type { CheckResult, CheckTarget, HealthCheck } from '../contracts/check.ts'
import { connectFailure, type Pinger, type ProbePlace } from './connector.ts'

/** Up when the address answers an ICMP or ICMPv6 echo request. The port is not used. */
export const pingCheck = (pinger: Pinger, place: ProbePlace) =>
  ({
    type: 'ping',
    run: async ({ address, domain, spec }: CheckTarget, signal?: AbortSignal): Promise<CheckResult> => {
      const answer = await pinger.ping({ netns: place(domain), address, timeoutMs: spec.timeoutMs }, signal)
      return answer.answered
        ? { ok: true, reason: null, durationMs: answer.durationMs }
        : { ok: false, reason: connectFailure(answer.reason, spec.timeoutMs), durationMs: spec.timeoutMs }
    },
  }) satisfies HealthCheck
