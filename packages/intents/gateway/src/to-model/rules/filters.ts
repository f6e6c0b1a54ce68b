import type { RouteContentInput } from '@spout/connector'
import type { HeaderModifier, HttpRouteFilter, HttpRouteRule, PathModifier } from '../../objects/http-route.ts'
import type { BackendRef } from '../../objects/references.ts'
import { durationMs } from '../fields/duration.ts'
import { type Objection, objection } from '../fields/objection.ts'
import type { pathOf } from './matches.ts'

type ActionInput = RouteContentInput['action']
type ForwardInput = Extract<ActionInput, { type: 'forward' }>
export type RedirectInput = Extract<ActionInput, { type: 'redirect' }>
export type FilterInput = NonNullable<ForwardInput['filters']>[number]
type Path = ReturnType<typeof pathOf>

/** A backend that gets copies of requests. */
export interface WantedMirror {
  readonly ref: BackendRef
  readonly percent: number
}

/** The filters and time-outs of a rule, in the terms of the model. */
export interface RuleOptions {
  readonly redirect: RedirectInput | null
  readonly filters: readonly FilterInput[]
  readonly mirrors: readonly WantedMirror[]
  /** The filters of each backend, in order. Empty when the rule has one backend, whose filters are in `filters`. */
  readonly ofBackends: readonly (readonly FilterInput[])[]
  readonly timeouts: ForwardInput['timeouts']
}

/** The listener whose requests are redirected. */
export interface RedirectingListener {
  readonly protocol: string
  readonly port: number
}

const FORWARDING = new Set(['RequestHeaderModifier', 'ResponseHeaderModifier', 'URLRewrite', 'CORS'])
const OF_ONE_BACKEND = new Set(['RequestHeaderModifier', 'ResponseHeaderModifier', 'URLRewrite'])
const unsupported = (message: string): Objection => objection('UnsupportedValue', message)

/**
 * Converts the filters and time-outs of a rule.
 * @param path the path of one match of the rule, whose prefix filters may replace
 * @returns an objection when a filter is not supported. The caller drops the whole rule, because no filter may be
 * skipped
 */
export function optionsOf(
  { filters = [], timeouts, backendRefs = [] }: HttpRouteRule,
  path: Path,
  listener: RedirectingListener,
): RuleOptions | { readonly invalid: Objection } {
  const wanted: FilterInput[] = []
  const mirrors: WantedMirror[] = []
  let redirect: RedirectInput | null = null
  const isOnly = backendRefs.length === 1
  // The filters of the only backend act like filters of the rule.
  const all = [...filters, ...(isOnly ? (backendRefs[0]?.filters ?? []) : [])]
  const ofBackends: (readonly FilterInput[])[] = []
  if (!isOnly)
    for (const ref of backendRefs) {
      const own = backendFilters(ref.filters ?? [], filters, path)
      if ('invalid' in own) return own
      ofBackends.push(own.filters)
    }
  for (const filter of all) {
    const { type } = filter
    if (FORWARDING.has(type)) {
      if (all.filter((other) => other.type === type).length > 1)
        return { invalid: unsupported(`filters: ${type} is there more than once.`) }
      const made = forwardingFilter(filter, path)
      if ('invalid' in made) return made
      wanted.push(made.filter)
    } else if (type === 'RequestMirror' && filter.requestMirror !== undefined)
      mirrors.push(mirrorOf(filter.requestMirror))
    else if (type === 'RequestRedirect' && filter.requestRedirect !== undefined) {
      const made = redirectOf(filter.requestRedirect, path, listener)
      if ('invalid' in made) return made
      redirect = made.redirect
    } else return { invalid: unsupported(`filters: ${type} is not supported.`) }
  }
  if (redirect !== null && all.some(({ type }) => type !== 'RequestRedirect' && type !== 'RequestHeaderModifier'))
    return {
      invalid: objection(
        'IncompatibleFilters',
        'filters: RequestRedirect can be combined with RequestHeaderModifier only.',
      ),
    }
  const times = timeoutsOf(timeouts)
  if ('invalid' in times) return times
  return { redirect, filters: wanted, mirrors, ofBackends, timeouts: times.timeouts }
}

/** The filters of one backend among several. @param ofRule the filters of the rule, which apply before these */
function backendFilters(
  filters: readonly HttpRouteFilter[],
  ofRule: readonly HttpRouteFilter[],
  path: Path,
): { readonly filters: readonly FilterInput[] } | { readonly invalid: Objection } {
  const made: FilterInput[] = []
  for (const filter of filters) {
    const { type } = filter
    if (!OF_ONE_BACKEND.has(type))
      return { invalid: unsupported(`backendRefs.filters: ${type} of one backend among several is not supported.`) }
    const others = [...filters, ...(type === 'URLRewrite' ? ofRule : [])].filter((other) => other.type === type)
    if (others.length > 1) return { invalid: unsupported(`filters: ${type} is there more than once.`) }
    const one = forwardingFilter(filter, path)
    if ('invalid' in one) return one
    made.push(one.filter)
  }
  return { filters: made }
}

function forwardingFilter(
  filter: HttpRouteFilter,
  path: Path,
): { readonly filter: FilterInput } | { readonly invalid: Objection } {
  switch (filter.type) {
    case 'RequestHeaderModifier':
      return { filter: { type: 'request-headers', ...headerEdits(filter.requestHeaderModifier) } }
    case 'ResponseHeaderModifier':
      return { filter: { type: 'response-headers', ...headerEdits(filter.responseHeaderModifier) } }
    case 'CORS':
      return { filter: corsOf(filter.cors ?? {}) }
    default:
      return rewriteOf(filter.urlRewrite ?? {}, path)
  }
}

const headerEdits = ({ set = [], add = [], remove = [] }: HeaderModifier = {}) => ({
  set: set.map(({ name, value }) => ({ name, value })),
  add: add.map(({ name, value }) => ({ name, value })),
  remove: [...remove],
})

function rewriteOf(
  { hostname, path: modifier }: NonNullable<HttpRouteFilter['urlRewrite']>,
  path: Path,
): { readonly filter: FilterInput } | { readonly invalid: Objection } {
  const host = hostname ?? null
  if (modifier === undefined) return { filter: { type: 'rewrite', host } }
  if (modifier.type === 'ReplaceFullPath') return { filter: { type: 'rewrite', host, path: fullPath(modifier) } }
  const prefix = prefixOf(modifier, path)
  return prefix === null ? noPrefix('urlRewrite') : { filter: { type: 'rewrite', host, prefix } }
}

/** The replacement of the matched prefix; null when the match is not by prefix. */
function prefixOf({ replacePrefixMatch: to = '' }: PathModifier, path: Path) {
  return path.type === 'PathPrefix' ? { from: path.value, to: to.startsWith('/') ? to : `/${to}` } : null
}

const noPrefix = (filter: string) => ({
  invalid: unsupported(`filters.${filter}.path: ReplacePrefixMatch needs a match of type PathPrefix.`),
})

const fullPath = ({ replaceFullPath = '' }: PathModifier): string =>
  replaceFullPath.startsWith('/') ? replaceFullPath : `/${replaceFullPath}`

function corsOf(cors: NonNullable<HttpRouteFilter['cors']>): FilterInput {
  return {
    type: 'cors',
    origins: [...(cors.allowOrigins ?? [])],
    methods: [...(cors.allowMethods ?? [])] as never,
    headers: [...(cors.allowHeaders ?? [])],
    exposeHeaders: [...(cors.exposeHeaders ?? [])],
    credentials: cors.allowCredentials ?? false,
    ...(cors.maxAge === undefined ? {} : { maxAgeSeconds: cors.maxAge }),
  }
}

const ALL_PERCENT = 100
function mirrorOf({ backendRef, percent, fraction }: NonNullable<HttpRouteFilter['requestMirror']>): WantedMirror {
  const share =
    fraction === undefined
      ? (percent ?? ALL_PERCENT)
      : (ALL_PERCENT * fraction.numerator) / (fraction.denominator ?? 100)
  return { ref: backendRef, percent: share }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 }

function redirectOf(
  { scheme, hostname, path, port, statusCode = 302 }: NonNullable<HttpRouteFilter['requestRedirect']>,
  match: Path,
  listener: RedirectingListener,
): { readonly redirect: RedirectInput } | { readonly invalid: Objection } {
  const prefix = path?.type === 'ReplacePrefixMatch' ? prefixOf(path, match) : undefined
  if (prefix === null) return noPrefix('requestRedirect')
  const now = scheme ?? (listener.protocol === 'HTTPS' ? 'https' : 'http')
  // As the API says: a redirect without a scheme goes to the listener's port, one with a scheme to its well-known port.
  const wanted = port ?? (scheme === undefined ? listener.port : DEFAULT_PORTS[scheme])
  return {
    redirect: {
      type: 'redirect',
      code: statusCode,
      scheme: (scheme as 'http' | undefined) ?? null,
      host: hostname ?? null,
      port: wanted === undefined || wanted === DEFAULT_PORTS[now] ? null : wanted,
      path: path === undefined || prefix !== undefined ? null : fullPath(path),
      ...(prefix === undefined ? {} : { prefix }),
    },
  }
}

function timeoutsOf(
  timeouts: HttpRouteRule['timeouts'],
): { readonly timeouts: ForwardInput['timeouts'] } | { readonly invalid: Objection } {
  if (timeouts?.request === undefined && timeouts?.backendRequest === undefined) return { timeouts: undefined }
  const msOf = (text: string | undefined) => (text === undefined ? null : (durationMs(text) ?? Number.NaN))
  const [requestMs, backendRequestMs] = [msOf(timeouts.request), msOf(timeouts.backendRequest)]
  if (Number.isNaN(requestMs) || Number.isNaN(backendRequestMs))
    return { invalid: unsupported('timeouts: is not a duration such as 10s or 500ms.') }
  return { timeouts: { requestMs, backendRequestMs } }
}
