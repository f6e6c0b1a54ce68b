import {
  hostText,
  looseCidrText,
  maxBodyBytes,
  type RouteClientRate,
  type RouteFilter,
  type RouteRetry,
  type RouteTimeouts,
  routeClientRate,
  routeFilter,
  routeRetry,
  routeTimeouts,
} from '@spout/model'
import { MOST_RETRIES } from '@spout/model/route-words'
import type { AnnotationReader } from './annotation-reader.ts'
import { corsOf } from './cors.ts'

/** How requests are forwarded to Services. */
export interface Forwarding {
  /** Filters for CORS and headers. A rewrite is not among them, because it depends on the path. */
  readonly filters: readonly RouteFilter[]
  /** The `Host` header of requests to pods; null keeps that of the client. */
  readonly host: string | null
  readonly timeouts: RouteTimeouts | undefined
  readonly retry: RouteRetry | undefined
  readonly clientRate: RouteClientRate | undefined
  readonly clientConcurrency: number | undefined
  /** Networks whose clients are exempt from the limits on rate and concurrency. */
  readonly unlimited: readonly string[]
  readonly maxBodyBytes: number | undefined
  /** A Service of the namespace that gets copies of requests. */
  readonly mirror: { readonly service: string; readonly port: number } | null
  /** A Service of the namespace that answers while a backend has no endpoint. */
  readonly fallback: string | null
}

/** Reads the annotations about forwarding. @param namespace the namespace of the Ingress. Copies go to no other */
export function forwardingOf(read: AnnotationReader, namespace: string): Forwarding {
  const filters = [corsOf(read), prefixHeaderOf(read)].filter((one) => one !== undefined)
  const host = read.text('upstream-vhost')
  return {
    filters,
    host: host === undefined ? null : (read.parsed('upstream-vhost', hostText, host) ?? null),
    timeouts: timeoutsOf(read),
    retry: retryOf(read),
    clientRate: clientRateOf(read),
    // 0 is no limit.
    clientConcurrency: read.whole('limit-connections', 0, MOST_REQUESTS) || undefined,
    unlimited: ['limit-whitelist', 'limit-allowlist'].flatMap((name) => unlimitedOf(read, name)),
    maxBodyBytes: maxBodyBytesOf(read),
    mirror: mirrorOf(read, namespace),
    fallback: serviceNameOf(read, 'default-backend') ?? null,
  }
}

function prefixHeaderOf(read: AnnotationReader): RouteFilter | undefined {
  const value = read.text('x-forwarded-prefix')
  if (value === undefined) return undefined
  const set = [{ name: 'x-forwarded-prefix', value }]
  return read.parsed('x-forwarded-prefix', routeFilter, { type: 'request-headers', set })
}

const DAY_S = 86_400

function timeoutsOf(read: AnnotationReader): RouteTimeouts | undefined {
  const seconds = read.whole('proxy-read-timeout', 1, DAY_S)
  if (seconds === undefined) return undefined
  return routeTimeouts.parse({ backendRequestMs: seconds * 1000 })
}

/** Reasons for retries that are always in effect here. */
const ALWAYS: ReadonlySet<string> = new Set(['error', 'timeout', 'invalid_header'])
const USUAL_TRIES = 3

function retryOf(read: AnnotationReader): RouteRetry | undefined {
  const words = read.text('proxy-next-upstream')?.split(/\s+/)
  const tries = read.whole('proxy-next-upstream-tries', 0, 1_000)
  if ((words === undefined && tries === undefined) || words?.includes('off')) return undefined
  const others = (words ?? []).filter((word) => !ALWAYS.has(word))
  const codes = [...new Set(others.map((word) => Number(/^http_(\d{3})$/.exec(word)?.[1])))].filter(Number.isFinite)
  const unknown = others.find((word) => !/^http_\d{3}$/.test(word))
  if (unknown === 'non_idempotent')
    read.notTaken('proxy-next-upstream', 'other than idempotent requests are not repeated')
  else if (unknown !== undefined) read.invalid('proxy-next-upstream', 'has a word that is not known')
  // 0 is no limit.
  const attempts = Math.min((tries === 0 ? MOST_RETRIES + 1 : (tries ?? USUAL_TRIES)) - 1, MOST_RETRIES)
  if (attempts === 0) return undefined
  return read.parsed('proxy-next-upstream', routeRetry, { attempts, codes })
}

const MOST_REQUESTS = 100_000
/** Limit of each of the two lists: together they fit into one condition of a route. */
const MOST_UNLIMITED = 32
const USUAL_BURST_MULTIPLIER = 5

/** Reads the rate limit: by second or else by minute. A route has one limit, so it cannot have both. */
function clientRateOf(read: AnnotationReader): RouteClientRate | undefined {
  const perSecond = read.whole('limit-rps', 0, MOST_REQUESTS)
  const perMinute = read.whole('limit-rpm', 0, MOST_REQUESTS)
  const multiplier = read.whole('limit-burst-multiplier', 1, 10) ?? USUAL_BURST_MULTIPLIER
  if (perSecond && perMinute) read.notTaken('limit-rpm', 'limit-rps is there, and a path has one limit')
  // 0 is no limit.
  const requests = perSecond || perMinute
  if (!requests) return undefined
  return routeClientRate.parse({ requests, perSeconds: perSecond ? 1 : 60, burst: requests * multiplier })
}

/** Reads a list of exempt networks. An invalid list exempts nobody, so that no limit is lost. */
function unlimitedOf(read: AnnotationReader, name: string): readonly string[] {
  const parsed = (read.list(name) ?? []).map((text) => looseCidrText.safeParse(text))
  if (parsed.length > MOST_UNLIMITED) read.invalid(name, `names more than ${MOST_UNLIMITED} networks`)
  else if (parsed.every(({ success }) => success)) return parsed.flatMap(({ data }) => data ?? [])
  else read.invalid(name, 'has an item that is not a network such as 10.0.0.0/8')
  return []
}

/** A size as nginx reads it, with units that are powers of 1024. */
const SIZE = /^(?<number>\d{1,12})(?<unit>[bkmg]?)$/i
const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

function maxBodyBytesOf(read: AnnotationReader): number | undefined {
  const name = 'proxy-body-size'
  const text = read.text(name)
  if (text === undefined) return undefined
  const { number, unit = '' } = SIZE.exec(text)?.groups ?? {}
  if (number === undefined) read.invalid(name, 'is not a size such as 8m')
  // 0 is no limit.
  const bytes = Number(number) * UNITS[unit.toLowerCase()]!
  return bytes > 0 ? read.parsed(name, maxBodyBytes, bytes) : undefined
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

function serviceNameOf(read: AnnotationReader, name: string): string | undefined {
  const text = read.text(name)
  if (text === undefined || NAME.test(text)) return text
  read.invalid(name, 'is not the name of a Service')
  return undefined
}

const MIRROR =
  /^http:\/\/(?<service>[a-z0-9-]{1,63})(?:\.(?<namespace>[a-z0-9-]{1,63}))?(?:\.svc(?:\.[a-z0-9.-]+)?)?(?::(?<port>\d{1,5}))?\/?(?:\$request_uri)?$/

/**
 * Reads the target of copies. Only a Service of the same namespace is accepted: another URL could be in somebody else's
 * network.
 */
function mirrorOf(read: AnnotationReader, namespace: string): Forwarding['mirror'] {
  const text = read.text('mirror-target')
  if (text === undefined) return null
  const { service, namespace: named = namespace, port = '80' } = MIRROR.exec(text)?.groups ?? {}
  if (service !== undefined && named === namespace) return { service, port: Number(port) }
  read.invalid('mirror-target', 'is no Service of the namespace, such as http://NAME.NAMESPACE.svc:80$request_uri')
  return null
}
