import { z } from 'zod'

/** The name of the record that marks who owns a name is that name with `aaaa-` before the first label. */
const MARK_LENGTH = 5
const MOST_LABEL = 63
const MOST_NAME = 253
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** Why a text is not a lower-case DNS name that a load balancer can have (RFC 1123 section 2.1). Null: it is one. */
export function whyNotDnsName(name: string): string | null {
  const labels = name.split('.')
  const [first = '', ...others] = labels
  if (others.length === 0) return 'has no dot: is not a full name such as shop.example.org'
  if (name.length > MOST_NAME - MARK_LENGTH) return `is longer than ${MOST_NAME - MARK_LENGTH} characters`
  if (first.length > MOST_LABEL - MARK_LENGTH)
    return `has more than ${MOST_LABEL - MARK_LENGTH} characters before the first dot`
  for (const label of first === '*' ? others : labels)
    if (label.length > MOST_LABEL || !LABEL.test(label))
      return 'has a part that is not 1 to 63 letters, digits and hyphens, with no hyphen at its ends'
  return /^\d+$/.test(labels.at(-1) ?? '') ? 'ends in a number, as addresses do' : null
}

/**
 * A fully qualified name, in lower case and without a trailing dot. `*` as the first label is a DNS wildcard: it stands
 * for all names below the other labels that do not exist themselves.
 */
export const dnsName = z
  .string()
  .max(MOST_NAME + 1)
  .transform((text, context) => {
    const name = text.toLowerCase().replace(/\.$/, '')
    const why = whyNotDnsName(name)
    if (why === null) return name
    context.addIssue({ code: 'custom', message: why })
    return z.NEVER
  })

const distinct = (names: readonly string[]): boolean => new Set(names).size === names.length
/** Limit of names per load balancer. */
export const MOST_DNS_NAMES = 16
const MOST_DOMAINS = 100

/** The names of a load balancer. */
export const dnsNames = z.array(dnsName).max(MOST_DNS_NAMES).refine(distinct, { message: 'has a name twice' })

/** The DNS names that a project may use: exact names, and wildcards (`*.example.org`) for all names below. */
export const domains = z.array(dnsName).max(MOST_DOMAINS).refine(distinct, { message: 'has a domain twice' })

/** How long resolvers may cache an answer, in seconds. */
export const dnsTtlSeconds = z.number().int().min(1).max(604_800)

/**
 * Whether a domain covers a name. `*.example.org` covers all names below `example.org`, at any depth, but not
 * `example.org`.
 */
export const coversName = (domain: string, name: string): boolean =>
  domain === name || (domain.startsWith('*.') && name.endsWith(domain.slice(1)))
