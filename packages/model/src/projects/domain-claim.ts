import { z } from 'zod'
import { dnsName } from '../scalars/dns-name.ts'
import { metaShape, timestamp, uuid } from '../scalars/scalars.ts'

/** The first label of the name whose TXT record proves a domain. */
const CHALLENGE_LABEL = '_spout-challenge'
const VALUE_PREFIX = 'spout-domain-verification='
const MOST_NAME = 253

/** Most claims of one project. */
export const MOST_DOMAIN_CLAIMS = 100

/** A domain whose challenge is a name that DNS can hold, too. */
export const claimableDomain = dnsName.refine((domain) => challengeNameOf(domain).length <= MOST_NAME, {
  message: `is longer than ${MOST_NAME - CHALLENGE_LABEL.length - 1} characters`,
})

/**
 * `pending`: never proven. `proven`: the project's. `missing`: still the project's, while its record is not found for a
 * time of grace. `lost`: was the project's.
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

/** A domain that a project claims, and proves by a TXT record. Its name is the domain. */
export const domainClaim = z.strictObject({
  ...metaShape,
  projectId: uuid,
  domain: claimableDomain,
  /** The text that the record must contain. It is no secret: anybody can resolve the name. */
  token: z.string().regex(/^[A-Za-z0-9_-]{20,64}$/),
  state: z.enum(DOMAIN_CLAIM_STATES),
  /** When it came into the state. */
  since: timestamp,
  reason: z.enum(DOMAIN_CLAIM_REASONS),
  message: z.string().max(500),
})
export type DomainClaim = z.infer<typeof domainClaim>

/** The name of the record that proves a domain. A wildcard is proven where the name is that it is below. */
export const challengeNameOf = (domain: string): string => `${CHALLENGE_LABEL}.${domain.replace(/^\*\./, '')}`

/** The text of that record. */
export const challengeValueOf = ({ token }: Pick<DomainClaim, 'token'>): string => `${VALUE_PREFIX}${token}`

/** Whether a text is of a record that proves some claim. */
export const isChallengeValue = (text: string): boolean => text.startsWith(VALUE_PREFIX)

/** Whether the domain is the project's. */
export const isHeld = ({ state }: Pick<DomainClaim, 'state'>): boolean => state === 'proven' || state === 'missing'

/** Looks for the record of a claim when its project asks. The domain prover implements it, surfaces read it. */
export interface DomainChecks {
  /** Whether domains can be proven at all. */
  readonly enabled: boolean
  /** @throws SpoutError TooManyRequests, NotFound */
  check(claimId: string): Promise<DomainClaim>
}
