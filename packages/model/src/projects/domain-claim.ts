import { z } from 'zod'
import { dnsName } from '../scalars/dns-name.ts'
import { metaShape, timestamp, uuid } from '../scalars/scalars.ts'

/** The first label of the name whose TXT record proves a domain. */
const CHALLENGE_LABEL = '_spout-challenge'
const VALUE_PREFIX = 'spout-domain-verification='
const MOST_NAME = 253

/** Limit of claims per project. */
export const MOST_DOMAIN_CLAIMS = 100

/** A domain that is short enough for the name of its challenge to be a DNS name, too. */
export const claimableDomain = dnsName.refine((domain) => challengeNameOf(domain).length <= MOST_NAME, {
  message: `is longer than ${MOST_NAME - CHALLENGE_LABEL.length - 1} characters`,
})

/**
 * `pending`: never proven. `proven`: the project holds the domain. `missing`: its record is not found, but the project
 * holds the domain for a grace period. `lost`: the project held it.
 */
export const DOMAIN_CLAIM_STATES = ['pending', 'proven', 'missing', 'lost'] as const

/** Why a claim is in its state, or what its last check found. */
export const DOMAIN_CLAIM_REASONS = [
  'NotChecked',
  'Proven',
  'NoRecord',
  'OtherRecord',
  'NameServer',
  'Conflict',
] as const

/** A project's claim to a DNS domain, which a TXT record proves. Its `name` is the domain. */
export const domainClaim = z.strictObject({
  ...metaShape,
  projectId: uuid,
  domain: claimableDomain,
  /** The text that the record must contain. It is no secret: anybody can resolve the name. */
  token: z.string().regex(/^[A-Za-z0-9_-]{20,64}$/),
  state: z.enum(DOMAIN_CLAIM_STATES),
  /** Since when the claim is in `state`. */
  since: timestamp,
  reason: z.enum(DOMAIN_CLAIM_REASONS),
  message: z.string().max(500),
})
export type DomainClaim = z.infer<typeof domainClaim>

/** The name of the TXT record that proves a domain. For `*.example.org` it is that of `example.org`. */
export const challengeNameOf = (domain: string): string => `${CHALLENGE_LABEL}.${domain.replace(/^\*\./, '')}`

/** The text of that record. */
export const challengeValueOf = ({ token }: Pick<DomainClaim, 'token'>): string => `${VALUE_PREFIX}${token}`

/** Whether the text of a TXT record belongs to a challenge, of any claim. */
export const isChallengeValue = (text: string): boolean => text.startsWith(VALUE_PREFIX)

/** Whether the project holds the domain. */
export const isHeld = ({ state }: Pick<DomainClaim, 'state'>): boolean => state === 'proven' || state === 'missing'

/** Checks a claim's record when its project asks. The domain prover implements it, surfaces call it. */
export interface DomainChecks {
  /** Whether domains can be proven at all. */
  readonly enabled: boolean
  /** @throws SpoutError TooManyRequests, NotFound */
  check(claimId: string): Promise<DomainClaim>
}
