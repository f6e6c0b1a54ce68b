import type { ServiceStats } from '@spout/model/node-report'
import type { DomainEntry, LoadBalancerEntry, Service } from '@spout/model/node-state'
import type { Applied, WantedEntry } from '../../contracts/driver.ts'

/**
 * What the agent and a driver in a process of its own say to each other: a JSON object a line over a UNIX socket, each
 * request of the agent answered by one line, in order. docs/external-drivers.md describes it for those who write one.
 */

/** A driver that does not speak this version gets nothing. It grows only when a driver of before would do wrong. */
export const PROTOCOL_VERSION = 1

/** A `WantedEntry` as JSON. Routes of requests are left out: they are the proxy's alone, and there may be thousands. */
export interface WireEntry {
  readonly key: string
  readonly hash: string
  /** Path of the tenant network's namespace on this node. */
  readonly netns: string
  readonly domain: DomainEntry
  readonly entry: LoadBalancerEntry
  readonly down: readonly string[]
  readonly shares: Readonly<Record<string, number>>
  /** By listener id: the port of the loopback addresses where the proxy accepts. */
  readonly proxyPorts: Readonly<Record<string, number>>
}

export type Request =
  | {
      readonly call: 'hello'
      /** Names the agent among those that the driver may serve. */
      readonly agent: string
      readonly versions: readonly number[]
      /** What the driver must offer; empty if it follows entries and carries none. */
      readonly features: readonly string[]
    }
  /** @param more whether further entries follow in another `adopt` */
  | { readonly call: 'adopt'; readonly entries: readonly WireEntry[]; readonly more: boolean }
  | { readonly call: 'apply'; readonly put: readonly WireEntry[]; readonly remove: readonly string[] }
  | { readonly call: 'observe' }
  | { readonly call: 'stats' }

export interface Counters {
  readonly transactions: number
  readonly reloads: number
}

/** An answer, of which each call reads its own fields. Nothing in it is trusted before it was looked at. */
export type Answer = Readonly<Record<string, unknown>>

export function wireEntry(
  { key, hash, domain, entry, down, shares, proxyPorts }: WantedEntry,
  netns: string,
): WireEntry {
  const ports = [...(proxyPorts ?? [])].map(([listener, { port }]) => [listener, port] as const)
  return {
    ...{ key, hash, netns, domain },
    entry: { ...entry, services: entry.services.map(withoutRoutes) },
    down: [...down].sort(),
    shares: Object.fromEntries(shares ?? []),
    proxyPorts: Object.fromEntries(ports),
  }
}

const withoutRoutes = ({ routes: _, ...service }: Service): Service => service

/** @throws Error if it is no answer, or one that says what went wrong */
export function parseAnswer(line: string): Answer {
  const value = parsed(line)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it answered no JSON object')
  const answer = value as Answer
  if (typeof answer['error'] === 'string') throw new Error(words(answer['error']))
  return answer
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new Error('it answered no JSON')
  }
}

/**
 * The features that a driver offers.
 * @throws Error if it speaks another version
 */
export function featuresIn({ version, features }: Answer): ReadonlySet<string> {
  if (version !== PROTOCOL_VERSION)
    throw new Error(`it speaks version ${words(String(version))} of the protocol, and this agent ${PROTOCOL_VERSION}`)
  return new Set(Array.isArray(features) ? features.filter((one) => typeof one === 'string') : [])
}

/** Null if the answer has none. */
export function countersIn({ counters }: Answer): Counters | null {
  const { transactions, reloads } = fieldsOf(counters)
  return isCount(transactions) && isCount(reloads) ? { transactions, reloads } : null
}

/**
 * The outcomes that an answer names, of these keys alone.
 * @throws Error if one cannot be read: then nobody knows what was applied
 */
export function appliedIn({ applied = [] }: Answer, keys: ReadonlySet<string>): readonly Applied[] {
  if (!Array.isArray(applied)) throw new Error('"applied" of its answer is no list')
  return applied.map((one: unknown): Applied => {
    const { key, state, reason, message } = fieldsOf(one)
    if (typeof key !== 'string' || !keys.has(key)) throw new Error('it answered for a key that it was not asked for')
    if (state === 'programmed') return { key, state, reason: null, message: null }
    if (state !== 'failed') throw new Error(`the state of ${key} is neither "programmed" nor "failed"`)
    return { key, state, reason: code(reason), message: words(message) }
  })
}

/** Keys that the answer names as lost. */
export const lostIn = ({ lost }: Answer): readonly string[] =>
  Array.isArray(lost) ? lost.filter((key) => typeof key === 'string') : []

/** Counters of listeners, of these load balancers alone. Those that are incomplete are left out. */
export function statsIn({ stats }: Answer, loadBalancers: ReadonlySet<string>): readonly ServiceStats[] {
  if (!Array.isArray(stats)) return []
  return stats.flatMap((one: unknown): ServiceStats[] => {
    const { loadBalancerId, listenerId, ...counted } = fieldsOf(one)
    const { bytesIn, bytesOut, activeConnections, totalConnections, requestErrors } = counted
    if (typeof loadBalancerId !== 'string' || !loadBalancers.has(loadBalancerId) || typeof listenerId !== 'string')
      return []
    if (!isCount(bytesIn) || !isCount(bytesOut) || !isCount(activeConnections)) return []
    if (!isCount(totalConnections) || !isCount(requestErrors)) return []
    return [{ loadBalancerId, listenerId, bytesIn, bytesOut, activeConnections, totalConnections, requestErrors }]
  })
}

const fieldsOf = (value: unknown): Answer => (typeof value === 'object' && value !== null ? (value as Answer) : {})
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** A driver's reason is a code, as ours are. */
const code = (reason: unknown): string =>
  typeof reason === 'string' && /^[A-Za-z]{1,64}$/.test(reason) ? reason : 'DriverRefused'

const MOST_WORDS = 500
/** What a driver says reaches users' objects: one line, of printable characters. */
const words = (text: unknown): string =>
  String(text ?? 'it gave no reason')
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .slice(0, MOST_WORDS)
    .trim() || 'it gave no reason'
