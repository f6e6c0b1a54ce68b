import { coversName, MOST_DNS_NAMES, whyNotDnsName } from '@spout/model'
import { type Refusal, shown } from '../refusal.ts'
import type { LoadBalancerContent } from './content.ts'

/** The annotations of external-dns, each with its present prefix and the prefix before version 0.22. */
export const DNS_ANNOTATIONS = {
  /** Names to publish, comma separated. */
  hostname: ['external-dns.kubernetes.io/hostname', 'external-dns.alpha.kubernetes.io/hostname'],
  /** How long resolvers may keep the answer. */
  ttl: ['external-dns.kubernetes.io/ttl', 'external-dns.alpha.kubernetes.io/ttl'],
  /** Who publishes the names. With a value other than `dns-controller`, somebody else does. */
  controller: ['external-dns.kubernetes.io/controller', 'external-dns.alpha.kubernetes.io/controller'],
} as const

export const ALL_DNS_ANNOTATIONS: readonly string[] = Object.values(DNS_ANNOTATIONS).flat()

/** A host that an object serves, and the field that names it. */
export interface ServedHost {
  readonly host: string
  readonly field: string
}

/** The DNS names that an object requests. */
export interface AskedNames {
  readonly dnsNames: readonly string[]
  readonly dnsTtlSeconds: number | null
  /** Problems with the names. The object is served nevertheless. */
  readonly notices: readonly Refusal[]
}

export const NO_NAMES: AskedNames = { dnsNames: [], dnsTtlSeconds: null, notices: [] }

/**
 * Collects the names in an object's annotations and the hosts that it serves. Names that cannot be published are left
 * out and reported. In a project without domains, which can publish no names, hosts are not reported.
 * @param domains the project's domains; absent: the control plane decides whether a name is below one
 */
export function askedNames(
  annotations: Readonly<Record<string, string>> = {},
  hosts: readonly ServedHost[] = [],
  domains?: readonly string[],
): AskedNames {
  const controller = textOf(annotations, 'controller')
  if (controller.value !== '' && controller.value !== 'dns-controller') return NO_NAMES
  const [named, lifetime] = [textOf(annotations, 'hostname'), lifetimeOf(textOf(annotations, 'ttl'))]
  const notices: Refusal[] = named.refusal === null ? [] : [named.refusal]
  const names = new Set<string>()
  const add = (text: string, field: string, isSaid: boolean): void => {
    const name = text.trim().toLowerCase().replace(/\.$/, '')
    if (name === '' || names.has(name)) return
    const why = whyNotDnsName(name)
    const isCovered = domains?.some((domain) => coversName(domain, name)) ?? true
    if (why === null && isCovered) names.add(name)
    else if (isSaid && why !== null)
      notices.push({ reason: 'InvalidName', field, message: `"${shown(name)}" is not published: it ${why}.` })
    else if (isSaid) notices.push(nameRefused(name, field, 'no domain of the project covers it.'))
  }
  for (const name of named.value.split(',')) add(name, NAMES_FIELD, true)
  for (const { host, field } of hosts) add(host, field, (domains ?? []).length > 0)
  if (lifetime.refusal !== null) notices.push(lifetime.refusal)
  return { dnsNames: [...names], dnsTtlSeconds: lifetime.seconds, notices }
}

/**
 * The names of all objects that share a load balancer, up to the limit. The first object that sets a time to live
 * decides it.
 * @param all the requests, the oldest object's first
 */
export function namesOfAll(all: readonly AskedNames[]): Pick<LoadBalancerContent, 'dnsNames' | 'dnsTtlSeconds'> {
  const names = new Set<string>()
  for (const { dnsNames } of all) {
    if (names.size >= MOST_DNS_NAMES) break
    for (const name of dnsNames) names.add(name)
  }
  if (names.size === 0) return {}
  const ttl = all.find(({ dnsTtlSeconds }) => dnsTtlSeconds !== null)?.dnsTtlSeconds
  return { dnsNames: [...names].slice(0, MOST_DNS_NAMES), ...(typeof ttl === 'number' && { dnsTtlSeconds: ttl }) }
}

/** A notice when some names of an object are not published because its load balancer has too many; else null. */
export function tooManyNames({ dnsNames }: AskedNames, published: readonly string[] = []): Refusal | null {
  const left = dnsNames.find((name) => !published.includes(name))
  if (left === undefined) return null
  const message = `Only the first ${MOST_DNS_NAMES} names are published, without "${left}".`
  return { reason: 'TooManyNames', field: NAMES_FIELD, message }
}

export const nameRefused = (name: string, field: string, why: string): Refusal => ({
  reason: 'NameRefused',
  field,
  message: `"${shown(name)}" is not published: ${why}`,
})

/** The field in which an object requests names. */
export const NAMES_FIELD = 'metadata.annotations[external-dns.kubernetes.io/hostname]'

const fieldOf = (name: keyof typeof DNS_ANNOTATIONS): string => `metadata.annotations[${DNS_ANNOTATIONS[name][0]}]`

/** The value under either prefix. Different values under both are refused. */
function textOf(
  annotations: Readonly<Record<string, string>>,
  name: keyof typeof DNS_ANNOTATIONS,
): { readonly value: string; readonly refusal: Refusal | null } {
  const [own, old] = DNS_ANNOTATIONS[name]
  const [value, before] = [own, old].map((each) => (annotations[each] ?? '').trim())
  if (value !== '' && before !== '' && value !== before) {
    const refusal = {
      reason: 'InvalidAnnotation',
      field: `metadata.annotations[${old}]`,
      message: `It differs from ${own}.`,
    }
    return { value: '', refusal }
  }
  return { value: value || before || '', refusal: null }
}

const UNIT_S = { ms: 0.001, s: 1, m: 60 } as const
const LONGEST_S = 604_800

/** Parses a time to live: seconds, or a duration such as `1m`. */
function lifetimeOf({ value, refusal }: ReturnType<typeof textOf>) {
  if (value === '') return { seconds: null, refusal }
  const match = /^(\d{1,9})(ms|s|m)?$/.exec(value)
  const seconds = match === null ? 0 : Number(match[1]) * UNIT_S[(match[2] ?? 's') as keyof typeof UNIT_S]
  if (seconds >= 1 && seconds <= LONGEST_S) return { seconds: Math.ceil(seconds), refusal }
  const message = `"${shown(value)}" is not a time such as 60 or 5m, from 1 to ${LONGEST_S} seconds.`
  return { seconds: null, refusal: { reason: 'InvalidAnnotation', field: fieldOf('ttl'), message } }
}
