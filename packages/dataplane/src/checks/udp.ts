import type { CheckResult, CheckTarget, HealthCheck } from '../contracts/check.ts'
import type { ProbePlace, UdpProber } from './connector.ts'

/**
 * A host sends at most one ICMP error a second to each peer (`icmp_ratelimit`), for all its ports together. So silence
 * within this time after a refusal counts as a refusal too.
 */
const REFUSAL_HOLDS_MS = 10_000

interface Refusal {
  readonly reason: string
  readonly atMs: number
}

/**
 * Up unless the endpoint refuses an empty datagram. Most services do not answer what they do not understand, so silence
 * is no failure. A host that is switched off is silent too, until ARP or NDP fails for its address.
 */
export function udpCheck(prober: UdpProber, place: ProbePlace, now: () => number = () => performance.now()) {
  /** Oldest first. */
  const refusals = new Map<string, Refusal>()
  const forgetOld = (): void => {
    for (const [endpoint, { atMs }] of refusals) {
      if (now() - atMs < REFUSAL_HOLDS_MS) return
      refusals.delete(endpoint)
    }
  }
  return {
    type: 'udp',
    run: async ({ address, port, domain, spec }: CheckTarget, signal?: AbortSignal): Promise<CheckResult> => {
      const asked = { netns: place(domain), address, port, timeoutMs: spec.timeoutMs }
      const answer = await prober.udp(asked, signal)
      const isSilent = !answer.answered && answer.reason === 'timed out'
      const endpoint = `${domain} ${address} ${port}`
      if (!isSilent) refusals.delete(endpoint)
      if (!isSilent && !answer.answered) refusals.set(endpoint, { reason: answer.reason, atMs: now() })
      forgetOld()
      const reason = refusals.get(endpoint)?.reason ?? null
      return { ok: reason === null, reason, durationMs: answer.durationMs }
    },
  } satisfies HealthCheck
}
