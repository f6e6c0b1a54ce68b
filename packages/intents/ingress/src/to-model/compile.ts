import {
  CLASS_ANNOTATION,
  CLUSTER_ANNOTATION,
  keyOf,
  type ListenerContent,
  type LoadBalancerContent,
  namesOfAll,
  ownerAnnotation,
  poolNamesOf,
  type Refusal,
  type RouteContent,
  routeOf,
  shown,
  sorted,
  tooManyNames,
  uidOf,
} from '@spout/connector'
import type { Ingress } from '@spout/kube'
import {
  CLIENT_CERTIFICATE_HEADERS,
  type Listener,
  listenerTls,
  MOST_LISTENER_CERTIFICATES,
  MOST_ROUTES,
} from '@spout/model'
import type { ExternalAuth } from '../ingress-nginx/external-auth.ts'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { type IngressOptions, optionsOf, type ReadOptions } from './annotations.ts'
import { ruleOfAuthorizer } from './authorizers.ts'
import { Backends, PLAIN_POOL } from './backends.ts'
import { clientAuthoritiesOf } from './client-authorities.ts'
import { headersOf } from './custom-headers.ts'
import { dnsNamesOf } from './dns-names.ts'
import { aliasRules, hasRegexOf, wwwRoutes } from './hosts.ts'
import { Regexes } from './regexes.ts'
import { type RuleBackends, routesOfRule } from './rule-routes.ts'
import { byAge, byPrecedence, type Rule, rulesOf, textOf } from './rules.ts'
import type { Surroundings } from './surroundings.ts'
import { usersOf } from './users.ts'

export interface Compiled {
  readonly content: LoadBalancerContent
  /** The Services that the rules name, whether or not they exist. */
  readonly services: ReadonlySet<string>
  /** The parts of each Ingress that are not served as written, by UID. The rest is served. */
  readonly problems: ReadonlyMap<string, readonly Refusal[]>
}

const LONGEST_NAME = 255
/**
 * At most this many problems of one Ingress are reported, so that thousands of annotations do not cause thousands of
 * events.
 */
const MOST_PROBLEMS = 100
const FORWARDED: Listener['insertHeaders'] = ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto']
/** Limit for rules. A rule may need several routes, so it leaves room for these. */
const MOST_RULES = MOST_ROUTES / 2
/** Limit for routes of rules. It leaves room for the last route. */
const MOST_RULE_ROUTES = MOST_ROUTES - 1

/**
 * Compiles the Ingresses of one namespace and class to one load balancer. Pure: equal input gives equal content, in
 * whatever order the Ingresses come. It never throws, whatever they contain: what cannot be served is a problem of its
 * Ingress alone.
 */
export function compile(ingresses: readonly Ingress[], around: Surroundings): Compiled {
  const ordered = ingresses.toSorted(byAge)
  const problems = new Map<string, Refusal[]>()
  const tell = (ingress: Ingress, refusal: Refusal) => {
    const own = problems.get(uidOf(ingress)) ?? []
    const isTold = own.some(({ field, message }) => field === refusal.field && message === refusal.message)
    if (!isTold && own.length < MOST_PROBLEMS) problems.set(uidOf(ingress), [...own, refusal])
  }
  const options = new Map(ordered.map((ingress) => [ingress, withHeaders(optionsOf(ingress), around)]))
  for (const [ingress, read] of options) for (const problem of read.problems) tell(ingress, problem)
  const authorities = clientAuthoritiesOf(
    ordered.flatMap((one) => ({ ingress: one, options: options.get(one)!.options })),
    around,
    tell,
  )
  const optionsFor = (ingress: Ingress): IngressOptions => {
    const own = options.get(ingress)!.options
    return authorities.refused.has(ingress) ? { ...own, isRefused: true } : own
  }
  const certificates = certificatesOf(ordered, around, tell)
  const mains = ordered.filter((one) => optionsFor(one).canary === null)
  const hasRegex = hasRegexOf(mains, optionsFor)
  const own = mains.flatMap((one) => rulesOf(one, hasRegex))
  const aliases = aliasRules(own, optionsFor, tell)
  const rules = winners([...own, ...aliases], tell).toSorted(byPrecedence)
  const canaries = canariesOf(ordered, rules, hasRegex, optionsFor, tell)
  const backends = new Backends(around)
  const regexes = new Regexes()
  const routes: { readonly rule: Rule; readonly route: RouteContent }[] = wwwRoutes(rules, optionsFor)
  for (const rule of rules) {
    const toldOf = (refusal: Refusal) => tell(rule.ingress, refusal)
    const used = backendsOf(rule, canaries.get(rule), rules, backends, around, optionsFor, tell)
    for (const input of routesOfRule(rule, optionsFor(rule.ingress), used, regexes, toldOf)) {
      const route = routeOf(input, rule.field)
      // If only the action is refused, the rule keeps its conditions and answers 503, so that no less specific rule
      // gets its requests.
      const instead =
        'refusal' in route ? routeOf({ ...input, action: { type: 'respond', code: 503 } }, rule.field) : route
      if ('refusal' in route) toldOf(route.refusal)
      if ('refusal' in instead) continue
      if (routes.length < MOST_RULE_ROUTES) routes.push({ rule, route: instead.value })
      else toldOf({ reason: 'TooManyRules', field: rule.field, message: `One address has ${MOST_RULE_ROUTES} routes.` })
    }
  }
  const last = rules.some(({ match }) => match === 'default') ? [] : [NOT_FOUND]
  const isOfClients = ({ ingress }: Rule) => optionsFor(ingress).clients !== null
  const isRedirected = redirectedRules(ordered, optionsFor)
  const toHttps = certificates.length === 0 ? () => false : (rule: Rule) => isOfClients(rule) || isRedirected(rule)
  const listeners: ListenerContent[] = [
    {
      ...listener('http', 80),
      routes: [...routes.map(({ rule, route }) => (toHttps(rule) ? redirectOf(route) : route)), ...last],
    },
  ]
  if (certificates.length > 0)
    listeners.push({
      ...listener('https', 443),
      routes: [...routes.map(({ route }) => route), ...last],
      ...(authorities.id !== null && { insertHeaders: [...FORWARDED, ...CLIENT_CERTIFICATE_HEADERS] }),
      tls: listenerTls.parse({
        certificateIds: certificates,
        ...(authorities.id !== null && { clientCertificates: { caCertificateId: authorities.id, required: false } }),
      }),
    })
  const asked = ordered.map((ingress) => ({ ingress, names: dnsNamesOf(ingress, around.domains) }))
  const published = namesOfAll(asked.map(({ names }) => names))
  for (const { ingress, names } of asked) {
    for (const notice of names.notices) tell(ingress, notice)
    const tooMany = tooManyNames(names, published.dnsNames)
    if (tooMany !== null) tell(ingress, tooMany)
  }
  const [oldest] = ordered
  return {
    content: {
      name: (oldest === undefined ? '' : keyOf(oldest)).slice(0, LONGEST_NAME),
      annotations: sorted({
        [CLUSTER_ANNOTATION]: around.cluster,
        ...(around.loadBalancerClass === null ? {} : { [CLASS_ANNOTATION]: around.loadBalancerClass }),
        ...Object.fromEntries(ordered.map((one) => [ownerAnnotation('ingress', uidOf(one)), keyOf(one)])),
      }),
      pools: backends.pools(new Set(routes.flatMap(({ route }) => poolNamesOf(route)))),
      listeners,
      ...published,
    },
    services: backends.services,
    problems,
  }
}

/** The options of an Ingress with the headers of the ConfigMap that it names. */
function withHeaders({ options, problems }: ReadOptions, around: Surroundings): ReadOptions {
  if (options.customHeaders === null) return { options, problems }
  const { filter, problems: more } = headersOf(around.configMap(options.customHeaders))
  const { forwarding } = options
  const filters = filter === null ? forwarding.filters : [...forwarding.filters, filter]
  return { options: { ...options, forwarding: { ...forwarding, filters } }, problems: [...problems, ...more] }
}

type Tell = (ingress: Ingress, refusal: Refusal) => void

const listener = (protocol: 'http' | 'https', port: number) =>
  ({ name: protocol, protocol, port, defaultPool: '', allowedCidrs: null, insertHeaders: FORWARDED }) as const

/**
 * Answers requests that no rule matches when there is no default backend. ingress-controller-conformance expects that.
 */
const NOT_FOUND: RouteContent = { name: 'not-found', conditions: [], action: { type: 'respond', code: 404 } }

/** If several rules match the same requests, the rule of the oldest Ingress wins. It is reported on both Ingresses. */
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

/** The canary of each rule that has one: the rule with the same host and path in the oldest canary Ingress. */
function canariesOf(
  ordered: readonly Ingress[],
  rules: readonly Rule[],
  hasRegex: (host: string) => boolean,
  optionsFor: (ingress: Ingress) => IngressOptions,
  tell: Tell,
): ReadonlyMap<Rule, Rule> {
  const byText = new Map(rules.map((rule) => [textOf(rule), rule]))
  const found = new Map<Rule, Rule>()
  for (const ingress of ordered)
    for (const rule of optionsFor(ingress).canary === null ? [] : rulesOf(ingress, hasRegex)) {
      const main = byText.get(textOf(rule))
      if (main !== undefined && !found.has(main)) found.set(main, rule)
      else {
        const why =
          main === undefined
            ? 'no Ingress without canary annotations has its host and path'
            : 'an older canary has them'
        tell(ingress, { reason: 'CanaryNotTaken', field: rule.field, message: `Not a canary of anything: ${why}.` })
      }
    }
  return found
}

/** The pools of a rule. Backends that cannot be served are reported. */
function backendsOf(
  rule: Rule,
  other: Rule | undefined,
  rules: readonly Rule[],
  backends: Backends,
  around: Surroundings,
  optionsFor: (ingress: Ingress) => IngressOptions,
  tell: Tell,
): RuleBackends {
  const { forwarding, auth, basic, pool: how } = optionsFor(rule.ingress)
  const poolOf = ({ backend, field, ingress }: Rule, options: typeof how) => {
    if ('service' in backend)
      return backends.poolOf({ ...backend, field: `${field}.backend` }, options, (refusal) => tell(ingress, refusal))
    tell(ingress, backend.refusal)
    return null
  }
  const inNamespace = (service: string, port: number | null, field: string) =>
    backends.poolOf(
      {
        service: `${rule.ingress.metadata.namespace ?? ''}/${service}`,
        port: port === null ? null : { number: port },
        field: `metadata.annotations[${NGINX_PREFIX}${field}]`,
      },
      field === 'default-backend' ? how : PLAIN_POOL,
      (refusal) => tell(rule.ingress, refusal),
    )
  const authorizerPool = (wanted: ExternalAuth): string | null => {
    if ('service' in wanted.asks) return inNamespace(wanted.asks.service, wanted.asks.port, 'auth-url')
    const found = ruleOfAuthorizer(rule, wanted, rules, optionsFor)
    if ('match' in found) return poolOf(found, optionsFor(found.ingress).pool)
    tell(rule.ingress, found)
    return null
  }
  const { mirror, fallback } = forwarding
  const pool = poolOf(rule, how)
  const second = fallback === null ? null : inNamespace(fallback, null, 'default-backend')
  const canary = other === undefined ? null : optionsFor(other.ingress).canary
  const canaryPool = other === undefined ? null : poolOf(other, { ...how, ...persistenceOf(optionsFor(other.ingress)) })
  return {
    pool: second !== null && (pool === null || backends.isEmpty(pool)) ? second : pool,
    canary: canary === null || canaryPool === null ? null : { canary, pool: canaryPool },
    authorizer: auth === null ? null : authorizerPool(auth),
    users: basic === null ? null : usersOf(basic, around, (refusal) => tell(rule.ingress, refusal)),
    mirror: mirror === null ? null : inNamespace(mirror.service, mirror.port, 'mirror-target'),
  }
}

/** The affinity of a canary, the only one of its pool options that is used. */
const persistenceOf = ({ pool }: IngressOptions) => ({ persistence: pool.persistence })

/** Ids of the certificates of the listener. Clients that send no server name get the first one. */
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

/** Whether a certificate's name covers a host; both may be wildcards (RFC 6125 section 6.4.3). */
function isFor(name: string, host: string): boolean {
  const [own, wanted] = [name.toLowerCase(), host.toLowerCase()]
  if (own === wanted) return true
  const dot = wanted.indexOf('.')
  return own.startsWith('*.') && dot > 0 && own.slice(1) === wanted.slice(dot)
}

/** Decides for which rules plain HTTP requests are redirected to HTTPS. */
function redirectedRules(
  ordered: readonly Ingress[],
  optionsFor: (ingress: Ingress) => IngressOptions,
): (rule: Rule) => boolean {
  const withTls = new Set(
    ordered.flatMap((ingress) =>
      (ingress.spec?.tls ?? []).flatMap(({ hosts = [] }) =>
        hosts.map((host) => `${uidOf(ingress)} ${host.toLowerCase()}`),
      ),
    ),
  )
  return ({ ingress, host }) => {
    const { sslRedirect } = optionsFor(ingress)
    return sslRedirect === 'all' || (sslRedirect === 'hosts-with-tls' && withTls.has(`${uidOf(ingress)} ${host}`))
  }
}

function redirectOf({ name, conditions }: RouteContent): RouteContent {
  const action = { type: 'redirect', code: 308, scheme: 'https', host: null, port: null, path: null, pathPrefix: null }
  return { name, conditions, action: action as RouteContent['action'] }
}
