import type { RouteContentInput } from '@spout/connector'
import type { HeaderModifier, HttpRouteFilter, HttpRouteRule, PathModifier } from '../objects/http-route.ts'
import type { BackendRef } from '../objects/references.ts'
import { durationMs } from './duration.ts'
import type { pathOf } from './matches.ts'
import { type Objection, objection } from './verdict.ts'

type ActionInput = RouteContentInput['action']
type ForwardInput = Extract<ActionInput, { type: 'forward' }>
export type RedirectInput = Extract<ActionInput, { type: 'redirect' }>
type FilterInput = NonNullable<ForwardInput['filters']>[number]
type Path = ReturnType<typeof pathOf>

/** A copy of requests for another backend. */
export interface WantedMirror {
  readonly ref: BackendRef
  readonly percent: number
}

/** What the filters and time-outs of a rule ask for. */
export interface RuleOptions {
  readonly redirect: RedirectInput | null
  readonly filters: readonly FilterInput[]
  readonly mirrors: readonly WantedMirror[]
  readonly timeouts: ForwardInput['timeouts']
}

/** The listener whose requests are redirected. */
export interface RedirectingListener {
  readonly protocol: string
  readonly port: number
}

const FORWARDING = new Set(['RequestHeaderModifier', 'ResponseHeaderModifier', 'URLRewrite', 'CORS'])
const unsupported = (message: string): Objection => objection('UnsupportedValue', message)

/**
 * @param path of one match of the rule: prefixes are replaced in it
 * @returns an objection for what cannot be done; such a rule is dropped as a whole, since a filter must not be skipped
 */
export function optionsOf(
  { filters = [], timeouts, backendRefs = [] }: HttpRouteRule,
  path: Path,
  listener: RedirectingListener,
): RuleOptions | { readonly invalid: Objection } {
  const wanted: FilterInput[] = []
  const mirrors: WantedMirror[] = []
  let redirect: RedirectInput | null = null
  const ownFilters = backendRefs.flatMap((ref) => ref.filters ?? [])
  if (ownFilters.length > 0 && backendRefs.length > 1)
    return { invalid: unsupported('backendRefs.filters: filters of one backend among several are not supported.') }
  const all = [...filters, ...ownFilters]
  for (const filter of all) {
    const { type } = filter
    if (FORWARDING.has(type)) {
      if (all.filter((other) => other.type === type).length > 1)
        return { invalid: unsupported(`filters: ${type} stands there more than once.`) }
      const made = forwardingFilter(filter, path)
      if ('invalid' in made) return made
      wanted.push(made.filter)
    } else if (type === 'RequestMirror' && filter.requestMirror !== undefined)
      mirrors.push(mirrorOf(filter.requestMirror))
    else if (type === 'RequestRedirect' && filter.requestRedirect !== undefined) {
      const made = redirectOf(filter.requestRedirect, listener)
      if ('invalid' in made) return made
      redirect = made.redirect
    } else return { invalid: unsupported(`filters: ${type} is not supported.`) }
  }
  if (redirect !== null && all.some(({ type }) => type !== 'RequestRedirect' && type !== 'RequestHeaderModifier'))
    return {
      invalid: objection('IncompatibleFilters', 'filters: RequestRedirect stands beside filters of the response.'),
    }
  const times = timeoutsOf(timeouts)
  if ('invalid' in times) return times
  return { redirect, filters: wanted, mirrors, timeouts: times.timeouts }
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
  if (path.type !== 'PathPrefix')
    return { invalid: unsupported('filters.urlRewrite.path: ReplacePrefixMatch needs a match of type PathPrefix.') }
  const to = modifier.replacePrefixMatch ?? ''
  return { filter: { type: 'rewrite', host, prefix: { from: path.value, to: to.startsWith('/') ? to : `/${to}` } } }
}

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
  listener: RedirectingListener,
): { readonly redirect: RedirectInput } | { readonly invalid: Objection } {
  if (path?.type === 'ReplacePrefixMatch')
    return { invalid: unsupported('filters.requestRedirect.path: ReplacePrefixMatch is not supported.') }
  const now = scheme ?? (listener.protocol === 'HTTPS' ? 'https' : 'http')
  // Without a scheme of its own a redirect stays on the listener's port.
  const wanted = port ?? (scheme === undefined ? listener.port : DEFAULT_PORTS[scheme])
  return {
    redirect: {
      type: 'redirect',
      code: statusCode,
      scheme: (scheme as 'http' | undefined) ?? null,
      host: hostname ?? null,
      port: wanted === undefined || wanted === DEFAULT_PORTS[now] ? null : wanted,
      path: path === undefined ? null : fullPath(path),
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
    return { invalid: unsupported('timeouts: is no duration such as 10s or 500ms.') }
  return { timeouts: { requestMs, backendRequestMs } }
}
