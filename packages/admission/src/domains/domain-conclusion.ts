import { challengeNameOf, type DomainClaim, isHeld } from '@spout/model'
import type { DomainFinding } from '../contract/domain-admission.ts'

type Conclusion = Pick<DomainClaim, 'state' | 'since' | 'reason' | 'message'>

export interface DomainCheck {
  readonly finding: DomainFinding
  /** Whether another project has the domain, or a wildcard above it. */
  readonly isHeldByOthers: boolean
  /** Whether the administrator assigned one of those to another project. */
  readonly isGivenToOthers: boolean
  /** Milliseconds since 1970. */
  readonly nowMs: number
  readonly graceMs: number
}

const CONFLICT = 'Another project has this domain, or a wildcard above it.'

/**
 * The effect of a check on a claim. A project that has a domain keeps it against later claims; domains that the
 * administrator assigned come before proven ones. A resolver that does not answer takes nothing away.
 */
export function concludeCheck(claim: DomainClaim, check: DomainCheck): Conclusion {
  const { finding, isHeldByOthers, isGivenToOthers, nowMs, graceMs } = check
  const into = (state: DomainClaim['state'], reason: DomainClaim['reason'], message: string): Conclusion => ({
    ...{ state, reason, message },
    since: state === claim.state ? claim.since : new Date(nowMs).toISOString(),
  })
  const held = isHeld(claim)
  const name = challengeNameOf(claim.domain)
  if (held ? isGivenToOthers : isHeldByOthers) return into(held ? 'lost' : claim.state, 'Conflict', CONFLICT)
  if (finding.record === 'present') return into('proven', 'Proven', `The record at ${name} was found.`)
  if (finding.record === 'unknown')
    return into(claim.state, 'NameServer', `The record at ${name} could not be looked up: ${finding.why}.`)
  const [reason, what] =
    finding.record === 'absent'
      ? (['NoRecord', `There is no such TXT record at ${name}`] as const)
      : (['OtherRecord', `The TXT records at ${name} are of other claims`] as const)
  if (!held) return into(claim.state, reason, `${what}.`)
  const missingSince = claim.state === 'missing' ? Date.parse(claim.since) : nowMs
  const endsMs = missingSince + graceMs
  if (nowMs >= endsMs) return into('lost', reason, `${what}.`)
  return into('missing', reason, `${what}; the domain is lost at ${new Date(endsMs).toISOString()}.`)
}
