import {
  backendPool,
  backendPort,
  type CertificateSight,
  CLASS_ANNOTATION,
  CLUSTER_ANNOTATION,
  type Family,
  keyOf,
  type ListenerContent,
  type LoadBalancerContent,
  ownerAnnotation,
  type PoolContent,
  type Refusal,
  type RouteContent,
  type RouteContentInput,
  routeOf,
  shown,
  sorted,
  uidOf,
} from '@spout/connector'
import type { EndpointSlice, Ingress, Service } from '@spout/kube'
import { type Listener, listenerTls, MOST_LISTENER_CERTIFICATES, MOST_ROUTES } from '@spout/model'
import { NO_OPTIONS, optionsOf } from './annotations.ts'
import { byAge, byPrecedence, conditionsOf, type Rule, routeName, rulesOf, textOf } from './rules.ts'

/** What Ingresses are compiled with. */
export interface Surroundings {
  readonly cluster: string
  /** Class of load balancers; null: none is named. */
  readonly loadBalancerClass: string | null
  /** By `namespace/name`. */
  readonly service: (key: string) => Service | undefined
  readonly slices: (serviceKey: string) => readonly EndpointSlice[]
  readonly certificate: (secretKey: string) => CertificateSight
  /** That members can have. */
  readonly families: readonly Family[]
}

export interface Compiled {
  readonly content: LoadBalancerContent
  /** The Services that its rules name, whether they exist or not. */
  readonly services: ReadonlySet<string>
  /** What of an Ingress is not served as it says, by its UID. The rest of it is served. */
  readonly problems: ReadonlyMap<string, readonly Refusal[]>
}

const LONGEST_NAME = 255
const FORWARDED: Listener['insertHeaders'] = ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto']
/** Leaves room for a redirect beside each rule of the HTTP listener. */
const MOST_RULES = MOST_ROUTES / 2

/**
 * Compiles the Ingresses of one namespace and class to one load balancer. Pure: equal input gives an equal document,
 * in whatever order the Ingresses come. It does not throw, whatever they hold: what cannot be served is a problem of its
 * Ingress alone.
 */
export function compile(ingresses: readonly Ingress[], around: Surroundings): Compiled {
  const ordered = ingresses.toSorted(byAge)
  const problems = new Map<string, Refusal[]>()
  const tell = (ingress: Ingress, refusal: Refusal) => {
    const own = problems.get(uidOf(ingress)) ?? []
    problems.set(uidOf(ingress), [...own, refusal])
  }
  const certificates = certificatesOf(ordered, around, tell)
  const rules = winners(ordered.flatMap(rulesOf), tell).toSorted(byPrecedence)
  const pools = new Map<string, PoolContent>()
  const routes: { readonly rule: Rule; readonly route: RouteContent }[] = []
  for (const rule of rules) {
    const route = routeOf(
      { name: routeName(rule), conditions: conditionsOf(rule), action: actionOf(rule, around, pools, tell) },
      rule.field,
    )
    if ('refusal' in route) tell(rule.ingress, route.refusal)
    else routes.push({ rule, route: route.value })
  }
  const wanted = redirectedHosts(ordered, tell)
  const redirected = certificates.length === 0 ? NONE : wanted
  const listeners: ListenerContent[] = [
    { ...listener('http', 80), ...withRoutes(routes.map(({ rule, route }) => toHttps(rule, route, redirected))) },
  ]
  if (certificates.length > 0)
    listeners.push({
      ...listener('https', 443),
      ...withRoutes(routes.map(({ route }) => route)),
      tls: listenerTls.parse({ certificateIds: certificates }),
    })
  const [oldest] = ordered
  return {
    content: {
      name: (oldest === undefined ? '' : keyOf(oldest)).slice(0, LONGEST_NAME),
      annotations: sorted({
        [CLUSTER_ANNOTATION]: around.cluster,
        ...(around.loadBalancerClass === null ? {} : { [CLASS_ANNOTATION]: around.loadBalancerClass }),
        ...Object.fromEntries(ordered.map((one) => [ownerAnnotation('ingress', uidOf(one)), keyOf(one)])),
      }),
      pools: [...pools.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      listeners,
    },
    services: new Set(rules.flatMap(({ backend }) => ('service' in backend ? [backend.service] : []))),
    problems,
  }
}

type Tell = (ingress: Ingress, refusal: Refusal) => void

const NONE: ReadonlySet<string> = new Set()

const listener = (protocol: 'http' | 'https', port: number) =>
  ({ name: protocol, protocol, port, defaultPool: '', allowedCidrs: null, insertHeaders: FORWARDED }) as const

const withRoutes = (routes: readonly RouteContent[]) => (routes.length === 0 ? {} : { routes })

/** Of rules that take the same requests the first wins, which is of the oldest Ingress; both are told. */
function winners(rules: readonly Rule[], tell: Tell): readonly Rule[] {
  const byText = new Map<string, Rule>()
  for (const rule of rules) {
    const first = byText.get(textOf(rule))
    if (first === undefined) {
      if (byText.size < MOST_RULES) byText.set(textOf(rule), rule)
      else tell(rule.ingress, { reason: 'TooManyRules', field: rule.field, message: `One address has ${MOST_RULES}.` })
      continue
    }
    const what =
      rule.match === 'default' ? 'the default backend' : shown(`${rule.host}${rule.path === '' ? '/' : rule.path}`)
    tell(rule.ingress, {
      reason: 'DuplicateRule',
      field: rule.field,
      message: `Ingress ${shown(keyOf(first.ingress))}, which is older, has ${what}: this rule is not served.`,
    })
    if (first.ingress !== rule.ingress)
      tell(first.ingress, {
        reason: 'DuplicateRule',
        field: first.field,
        message: `Ingress ${shown(keyOf(rule.ingress))} wants ${what}, too; it stays with this one, which is older.`,
      })
  }
  return [...byText.values()]
}

/** A backend that cannot be served is answered with 503, so that no less specific rule takes its requests. */
function actionOf(
  rule: Rule,
  around: Surroundings,
  pools: Map<string, PoolContent>,
  tell: Tell,
): RouteContentInput['action'] {
  const { backend, ingress, field } = rule
  const port =
    'refusal' in backend
      ? backend
      : backendPort(around.service(backend.service), backend.service, backend.port, `${field}.backend`)
  if ('refusal' in port) {
    tell(ingress, port.refusal)
    return { type: 'respond', code: 503 }
  }
  const key = 'service' in backend ? backend.service : ''
  const name = `${key}:${port.value.port}`
  if (!pools.has(name)) pools.set(name, backendPool(name, port.value, around.slices(key), around.families))
  return { type: 'forward', pools: [{ pool: name }] }
}

/** Ids of the certificates that are shown, the first one to clients without a name. */
function certificatesOf(ordered: readonly Ingress[], around: Surroundings, tell: Tell): readonly string[] {
  const ids = new Set<string>()
  for (const ingress of ordered)
    for (const [at, { secretName = '', hosts = [] }] of (ingress.spec?.tls ?? []).entries()) {
      if (secretName === '') continue
      const field = `spec.tls[${at}].secretName`
      const sight = around.certificate(`${ingress.metadata.namespace ?? ''}/${secretName}`)
      if (sight.type === 'waits') continue
      const refusal = sight.type === 'refused' ? sight.refusal : sight.notice
      if (refusal !== null) tell(ingress, { ...refusal, field, message: `${refusal.field}: ${refusal.message}` })
      if (sight.type === 'refused') continue
      const { id, names } = sight.certificate
      if (!ids.has(id) && ids.size >= MOST_LISTENER_CERTIFICATES) {
        const message = `One address shows ${MOST_LISTENER_CERTIFICATES} certificates.`
        tell(ingress, { reason: 'TooManyCertificates', field, message })
        continue
      }
      ids.add(id)
      const missing = hosts.find((host) => !names.some((name) => isFor(name, host)))
      if (missing !== undefined)
        tell(ingress, {
          reason: 'CertificateForOtherHosts',
          field: `spec.tls[${at}].hosts`,
          message: `The certificate of Secret ${shown(secretName)} is not for ${shown(missing)}: clients will refuse it.`,
        })
    }
  return [...ids]
}

/** Whether a certificate's name is for a host; both may be wildcards (RFC 6125 section 6.4.3). */
function isFor(name: string, host: string): boolean {
  const [own, wanted] = [name.toLowerCase(), host.toLowerCase()]
  if (own === wanted) return true
  const dot = wanted.indexOf('.')
  return own.startsWith('*.') && dot > 0 && own.slice(1) === wanted.slice(dot)
}

/** `UID host` of each host with TLS of an Ingress that wants its clients there. */
function redirectedHosts(ordered: readonly Ingress[], tell: Tell): ReadonlySet<string> {
  const hosts = new Set<string>()
  for (const ingress of ordered) {
    const options = optionsOf(ingress)
    if ('refusal' in options) tell(ingress, options.refusal)
    const { sslRedirect } = 'refusal' in options ? NO_OPTIONS : options.value
    if (!sslRedirect) continue
    for (const { hosts: own = [] } of ingress.spec?.tls ?? [])
      for (const host of own) hosts.add(`${uidOf(ingress)} ${host.toLowerCase()}`)
  }
  return hosts
}

function toHttps(rule: Rule, route: RouteContent, redirected: ReadonlySet<string>): RouteContent {
  if (!redirected.has(`${uidOf(rule.ingress)} ${rule.host}`)) return route
  const { name, conditions } = route
  const action = { type: 'redirect', code: 308, scheme: 'https', host: null, port: null, path: null, pathPrefix: null }
  return { name, conditions, action: action as RouteContent['action'] }
}
