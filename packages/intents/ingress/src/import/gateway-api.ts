import { type RouteContent, shown, uidOf } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import type { RouteCondition, RouteFilter } from '@spout/model'
import { optionsOf } from '../to-model/annotations.ts'
import type { UnitReport } from './report.ts'

/** An object of Gateway API v1.6, as `kubectl apply` takes it. */
export interface GatewayApiObject {
  readonly apiVersion: 'gateway.networking.k8s.io/v1'
  readonly kind: 'Gateway' | 'HTTPRoute'
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: Readonly<Record<string, unknown>>
}

export interface GatewayApiConversion {
  readonly objects: readonly GatewayApiObject[]
  /** What the objects cannot express, each with its Ingress. */
  readonly notes: readonly string[]
}

type Rule = Readonly<Record<string, unknown>>
type Note = (text: string) => void

const API = 'gateway.networking.k8s.io/v1'
const CLASS = 'spout'
const GATEWAY = 'ingress'
/** The API's limit for an HTTPRoute. */
const MOST_RULES = 16
const MOST_CERTIFICATES = 64

/**
 * Converts Ingresses to Gateway API: a Gateway for each namespace and class, and HTTPRoutes for each Ingress and host.
 * An Ingress with a protection that no HTTPRoute can express is left out, because its paths would be unprotected. Pure.
 */
export function gatewayApiOf(units: readonly UnitReport[]): GatewayApiConversion {
  const notes: string[] = []
  const objects = units.flatMap((unit) => unitObjects(unit, (text) => notes.push(text)))
  return { objects, notes: [...new Set(notes)] }
}

function unitObjects({ namespace, className, compiled, ingresses }: UnitReport, note: Note): GatewayApiObject[] {
  const name = className === '' ? GATEWAY : `${GATEWAY}-${className}`
  const secrets = [
    ...new Set(ingresses.flatMap(({ ingress }) => (ingress.spec?.tls ?? []).flatMap((one) => one.secretName ?? []))),
  ]
  if (secrets.length > MOST_CERTIFICATES)
    note(`${namespace}: Gateway ${name} shows ${MOST_CERTIFICATES} of ${secrets.length} certificates.`)
  const certificateRefs = secrets.slice(0, MOST_CERTIFICATES).map((secret) => ({ name: secret }))
  const gateway: GatewayApiObject = {
    apiVersion: API,
    kind: 'Gateway',
    metadata: { name, namespace },
    spec: {
      gatewayClassName: CLASS,
      listeners: [
        { name: 'http', protocol: 'HTTP', port: 80 },
        ...(secrets.length === 0 ? [] : [{ name: 'https', protocol: 'HTTPS', port: 443, tls: { certificateRefs } }]),
      ],
    },
  }
  const written = ingresses.filter(({ ingress }) => isWritable(ingress, note))
  return [gateway, ...written.flatMap(({ ingress }) => routesOf(ingress, name, compiled.content.listeners, note))]
}

function isWritable(ingress: Ingress, note: Note): boolean {
  const { options } = optionsOf(ingress)
  const why = options.isRefused
    ? 'something protects it that is not taken'
    : options.access.allow !== null || options.access.deny.length > 0
      ? 'no HTTPRoute limits the addresses of clients'
      : options.clients !== null
        ? 'no HTTPRoute asks clients for certificates'
        : options.auth !== null || options.basic !== null
          ? 'no HTTPRoute of the standard channel asks an authorizer or for a password'
          : null
  if (options.customHeaders !== null)
    note(
      `${keyOf(ingress)}: headers of ConfigMap ${options.customHeaders} are not written; a ResponseHeaderModifier sets them.`,
    )
  if (why !== null) note(`${keyOf(ingress)}: not written: ${why}; its paths would be open.`)
  return why === null && options.canary === null
}

const keyOf = ({ metadata }: Ingress): string => `${metadata.namespace ?? ''}/${shown(metadata.name)}`

type Listeners = UnitReport['compiled']['content']['listeners']

/** Routes that are equal at both listeners are written once. */
function routesOf(ingress: Ingress, gateway: string, listeners: Listeners, note: Note): GatewayApiObject[] {
  const toldOf: Note = (text) => note(`${keyOf(ingress)}: ${text}`)
  const bySection = listeners.map(({ name, routes = [] }) => {
    const own = routes.filter((route) => route.name.startsWith(`${uidOf(ingress)}/`))
    return { name, hosts: rulesByHost(own, toldOf) }
  })
  const [first] = bySection
  const isSame = bySection.every(
    ({ hosts }) => JSON.stringify([...hosts]) === JSON.stringify([...(first?.hosts ?? [])]),
  )
  const made: GatewayApiObject[] = []
  for (const { name: section, hosts } of isSame ? bySection.slice(0, 1) : bySection)
    for (const [host, rules] of hosts)
      for (let at = 0; at < rules.length; at += MOST_RULES)
        made.push({
          apiVersion: API,
          kind: 'HTTPRoute',
          metadata: { name: `${ingress.metadata.name}-${made.length}`, namespace: ingress.metadata.namespace ?? '' },
          spec: {
            parentRefs: [{ name: gateway, ...(isSame ? {} : { sectionName: section }) }],
            ...(host === '' ? {} : { hostnames: [host] }),
            rules: rules.slice(at, at + MOST_RULES),
          },
        })
  return made
}

function rulesByHost(routes: readonly RouteContent[], note: Note): ReadonlyMap<string, readonly Rule[]> {
  const byHost = new Map<string, Rule[]>()
  for (const { conditions, action } of routes) {
    const match = matchOf(conditions, note)
    const rule = match === null ? null : ruleOf(action, match.match, note)
    if (match === null || rule === null) continue
    byHost.set(match.host, [...(byHost.get(match.host) ?? []), rule])
  }
  return byHost
}

interface Match {
  readonly host: string
  readonly match: Readonly<Record<string, unknown>> & {
    readonly path?: { readonly type: string; readonly value: string }
  }
}

/** The match for these conditions; null, with a note, when an HTTPRoute cannot express them. */
function matchOf(conditions: readonly RouteCondition[], note: Note): Match | null {
  let host = ''
  let path: Match['match']['path']
  const headers: Rule[] = []
  for (const condition of conditions) {
    const [value = ''] = condition.values
    if (condition.on === 'host') {
      host = condition.compare === 'exact' ? value : `*.${value}`
      if (condition.compare !== 'exact')
        note(`*.${value}: several labels fit a wildcard of a route, one fits that of an Ingress.`)
    } else if (condition.on === 'path') path = pathOf(condition.compare, value, note)
    else if (condition.on === 'header' && ['exact', 'regex'].includes(condition.compare)) {
      const type = condition.compare === 'exact' ? 'Exact' : 'RegularExpression'
      headers.push({ type, name: condition.name, value })
    } else {
      note(`a match on ${condition.on === 'cookie' ? 'a cookie' : condition.on} is not written.`)
      return null
    }
  }
  return { host, match: { ...(path === undefined ? {} : { path }), ...(headers.length === 0 ? {} : { headers }) } }
}

function pathOf(compare: string, value: string, note: Note): NonNullable<Match['match']['path']> {
  if (compare === 'exact') return { type: 'Exact', value }
  if (compare === 'elements') return { type: 'PathPrefix', value }
  if (compare === 'prefix') return { type: 'PathPrefix', value: value.replace(/(?<=.)\/+$/, '') }
  note('expressions of paths are compared with regard to case.')
  return { type: 'RegularExpression', value: `${value.replace(/^\(\?i\)\^/, '')}.*` }
}

function ruleOf(action: RouteContent['action'], match: Match['match'], note: Note): Rule | null {
  const matches = Object.keys(match).length === 0 ? {} : { matches: [match] }
  // A rule without a backend answers 500.
  if (action.type === 'respond') return matches
  if (action.type === 'redirect') {
    const { code: statusCode, scheme, host: hostname, port, path, pathPrefix } = action
    if (pathPrefix !== null || path?.includes('?')) {
      note('a redirect that keeps a part of the path, or has a query, is not written.')
      return null
    }
    const requestRedirect = {
      ...(scheme === null ? {} : { scheme }),
      ...(hostname === null ? {} : { hostname }),
      ...(port === null ? {} : { port }),
      ...(path === null ? {} : { path: { type: 'ReplaceFullPath', replaceFullPath: path } }),
      statusCode,
    }
    return { ...matches, filters: [{ type: 'RequestRedirect', requestRedirect }] }
  }
  if (action.clientRate !== undefined) note('rates of clients are not of Gateway API, and are not written.')
  if (action.clientConcurrency !== undefined) note('limits of clients are not of Gateway API, and are not written.')
  if (action.maxBodyBytes !== undefined) note('limits of bodies are not of Gateway API, and are not written.')
  if (action.retry !== undefined) note('retries are not of the standard channel, and are not written.')
  const refOf = (pool: string): Rule => {
    const [, name = '', port = '', mark] = /^[^/]*\/(.*):(\d+)( .*)?$/.exec(pool) ?? []
    if (mark !== undefined)
      note(`Service ${shown(name)}: affinity and TLS to pods are not written; BackendTLSPolicy says the latter.`)
    return { name, port: Number(port) }
  }
  const filters = [
    ...(action.filters ?? []).map(filterOf),
    ...(action.mirrors ?? []).map(({ pool }) => ({
      type: 'RequestMirror',
      requestMirror: { backendRef: refOf(pool) },
    })),
  ]
  const ms = action.timeouts?.backendRequestMs
  return {
    ...matches,
    ...(filters.length === 0 ? {} : { filters }),
    ...(typeof ms === 'number' ? { timeouts: { backendRequest: `${ms / 1000}s` } } : {}),
    backendRefs: action.pools.map(({ pool, weight }) => ({ ...refOf(pool), ...(weight === 1 ? {} : { weight }) })),
  }
}

function filterOf(filter: RouteFilter): Rule {
  switch (filter.type) {
    case 'request-headers':
      return { type: 'RequestHeaderModifier', requestHeaderModifier: { set: filter.set } }
    case 'response-headers':
      return { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: filter.set } }
    case 'rewrite': {
      const { host, path, prefix } = filter
      const urlRewrite = {
        ...(host === null ? {} : { hostname: host }),
        ...(path === null ? {} : { path: { type: 'ReplaceFullPath', replaceFullPath: path } }),
        ...(prefix === null ? {} : { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: prefix.to } }),
      }
      return { type: 'URLRewrite', urlRewrite }
    }
    case 'cors': {
      const { origins, methods, headers, exposeHeaders, credentials, maxAgeSeconds } = filter
      const cors = {
        allowOrigins: origins,
        allowMethods: methods,
        ...(headers.length === 0 ? {} : { allowHeaders: headers }),
        ...(exposeHeaders.length === 0 ? {} : { exposeHeaders }),
        ...(credentials ? { allowCredentials: true } : {}),
        maxAge: Math.max(1, maxAgeSeconds),
      }
      return { type: 'CORS', cors }
    }
  }
}
