import { type Refusal, type RouteContentInput, shown } from '@spout/connector'
import type { RouteFilter } from '@spout/model'
import type { Canary } from '../ingress-nginx/canary.ts'
import { nameExpression, otherName } from '../ingress-nginx/client-certificates.ts'
import type { IngressOptions } from './annotations.ts'
import { literalBegin, type Regexes } from './regexes.ts'
import { rewritingOf } from './rewriting.ts'
import { conditionsOf, hostConditions, type Rule, regexOf, routeName } from './rules.ts'

type Action = RouteContentInput['action']
type Forward = Extract<Action, { readonly type: 'forward' }>
type Conditions = NonNullable<RouteContentInput['conditions']>

/** The canary of a rule. */
export interface RuleCanary {
  readonly canary: Canary
  /** Its pool. */
  readonly pool: string
}

export interface RuleBackends {
  /** Name of the rule's pool; null when its backend cannot be served. */
  readonly pool: string | null
  readonly canary: RuleCanary | null
  /** Name of the authorizer's pool; null without an authorizer, and when its pool cannot be served. */
  readonly authorizer: string | null
  /** Id of the list of users; null without basic authentication, and when the list is missing. */
  readonly users: string | null
  /** Name of the pool that gets copies; null for none. */
  readonly mirror: string | null
}

const NOT_SERVED: Action = { type: 'respond', code: 503 }
const NO_CERTIFICATE: Action = { type: 'respond', code: 400 }
const FORBIDDEN: Action = { type: 'respond', code: 403 }
/** The most values of one condition. */
const MOST_VALUES = 64

/**
 * The routes of a rule, in order: those that deny requests come before those that forward them. The first one that
 * matches a request decides. A rule that cannot be served still matches its requests and answers 503, so that no less
 * specific rule gets them.
 */
export function routesOfRule(
  rule: Rule,
  options: IngressOptions,
  backends: RuleBackends,
  regexes: Regexes,
  tell: (refusal: Refusal) => void,
): readonly RouteContentInput[] {
  const name = routeName(rule)
  const unusable = rule.match === 'regex' && rule.path !== '' ? regexes.refusalOfPath(regexOf(rule.path)) : null
  if (unusable !== null) {
    const begin = literalBegin(rule.path)
    tell({ reason: 'InvalidRoute', field: rule.field, message: `${unusable} Paths from ${shown(begin)} on get 503.` })
    const paths: Conditions = begin === '/' ? [] : [{ on: 'path', compare: 'prefix', values: [begin] }]
    return [{ name, conditions: [...hostConditions(rule), ...paths], action: NOT_SERVED }]
  }
  const conditions = conditionsOf(rule)
  if (options.isRefused) return [{ name, conditions, action: NOT_SERVED }]
  const { commonName = null } = options.clients ?? {}
  const unknown = commonName === null ? null : regexes.refusalOf(nameExpression(commonName))
  if (unknown !== null) {
    tell({ reason: 'AnnotationRefused', field: rule.field, message: `auth-tls-match-cn is not taken: ${unknown} 503.` })
    return [{ name, conditions, action: NOT_SERVED }]
  }
  const allowed = (options.auth ?? options.basic)?.orAllowed ? options.access.allow : null
  const access = allowed === null ? options.access : { ...options.access, allow: null }
  const guards = [...accessRoutes(name, conditions, access), ...clientRoutes(name, conditions, options)]
  const root = rootRoutes(name, rule, options)
  if (options.redirects.all !== null) return [...guards, { name, conditions, action: options.redirects.all }]
  if (backends.pool === null) return [...guards, ...root, { name, conditions, action: NOT_SERVED }]
  // If the authorizer or the list of users is missing, nobody is admitted.
  if ((options.auth !== null && backends.authorizer === null) || (options.basic !== null && backends.users === null))
    return [...guards, ...root, { name, conditions, action: NOT_SERVED }]
  const { takes, rewrite, isWhole } = rewriteOf(rule, options, conditions, tell)
  if (takes === null) return [...guards, { name, conditions, action: NOT_SERVED }]
  const rest: RouteContentInput[] = isWhole ? [] : [{ name: `${name}#rest`, conditions, action: NOT_SERVED }]
  const limits = limitsOf(options)
  const forward = (pools: Forward['pools'], isLimited = true, isAsked = true): Action => ({
    type: 'forward',
    pools,
    ...filtersOf(options, rewrite),
    ...(options.forwarding.timeouts && { timeouts: options.forwarding.timeouts }),
    ...(options.forwarding.retry && { retry: options.forwarding.retry }),
    ...(isLimited && limits),
    ...(options.forwarding.maxBodyBytes !== undefined && { maxBodyBytes: options.forwarding.maxBodyBytes }),
    ...(isAsked &&
      options.auth !== null && { authorizer: { ...options.auth.authorizer, pool: backends.authorizer ?? '' } }),
    ...(isAsked &&
      backends.users !== null && { basicAuthentication: { realm: options.basic?.realm, usersId: backends.users } }),
    ...(isAsked && options.auth?.orAllowed && backends.users !== null && { satisfy: 'any' as const }),
    ...(backends.mirror !== null && { mirrors: [{ pool: backends.mirror }] }),
  })
  const shares = { name, pool: backends.pool, canary: backends.canary, conditions: takes, field: rule.field }
  const { unlimited } = options.forwarding
  const areAllAlike = unlimited.length === 0 || Object.keys(limits).length === 0
  /**
   * Routes for requests from these networks, which need neither authorizer nor password; null: for all other requests.
   */
  const routesFor = (networks: readonly string[] | null, mark: string) => {
    const from: Conditions = networks === null ? takes : [...takes, { on: 'source', values: [...networks] }]
    const isAsked = networks === null
    const own = { ...shares, name: `${name}${mark}`, conditions: from }
    const unlimitedShares = {
      ...{ ...own, name: `${own.name}#unlimited` },
      conditions: [...from, { on: 'source' as const, values: [...unlimited] }],
    }
    const before = areAllAlike
      ? []
      : sharedRoutes(unlimitedShares, (pools) => forward(pools, false, isAsked), regexes, tell)
    return [...before, ...sharedRoutes(own, (pools) => forward(pools, true, isAsked), regexes, tell)]
  }
  const unasked = chunks(allowed ?? []).flatMap((networks, at) => routesFor(networks, `#allowed${at}`))
  return [...guards, ...root, ...unasked, ...routesFor(null, ''), ...rest]
}

/** The limits for each client. */
const limitsOf = ({ forwarding: { clientRate, clientConcurrency } }: IngressOptions): Partial<Forward> => ({
  ...(clientRate && { clientRate }),
  ...(clientConcurrency !== undefined && { clientConcurrency }),
})

/** Routes that refuse clients by their certificate: those without one, and those with another name. */
function clientRoutes(name: string, conditions: Conditions, { clients }: IngressOptions): readonly RouteContentInput[] {
  if (clients === null) return []
  const { isRequired, errorPage, commonName } = clients
  const absent: Conditions = [...conditions, { on: 'client-certificate', values: ['absent'] }]
  const others: Conditions = commonName === null ? [] : [...conditions, otherName(commonName)]
  return [
    ...(isRequired ? [{ name: `${name}#client`, conditions: absent, action: errorPage ?? NO_CERTIFICATE }] : []),
    ...(commonName === null ? [] : [{ name: `${name}#client-name`, conditions: others, action: FORBIDDEN }]),
  ]
}

/** Routes that refuse clients by their address: denied ones, and those that are not allowed. */
function accessRoutes(
  name: string,
  conditions: Conditions,
  access: IngressOptions['access'],
): readonly RouteContentInput[] {
  const denied = chunks(access.deny).map(
    (values, at): RouteContentInput => ({
      name: `${name}#deny${at}`,
      conditions: [...conditions, { on: 'source', values }],
      action: FORBIDDEN,
    }),
  )
  if (access.allow === null) return denied
  const outside = chunks(access.allow).map((values) => ({ on: 'source', values, not: true }) as const)
  return [...denied, { name: `${name}#allow`, conditions: [...conditions, ...outside], action: FORBIDDEN }]
}

const chunks = (all: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(all.length / MOST_VALUES) }, (_, at) =>
    all.slice(at * MOST_VALUES, (at + 1) * MOST_VALUES),
  )

function rootRoutes(name: string, rule: Rule, { redirects }: IngressOptions): readonly RouteContentInput[] {
  if (redirects.appRoot === null || !['', '/'].includes(rule.path) || rule.match === 'default') return []
  return [
    {
      name: `${name}#root`,
      conditions: [...hostConditions(rule), { on: 'path', compare: 'exact', values: ['/'] }],
      action: { type: 'redirect', code: 302, path: redirects.appRoot },
    },
  ]
}

interface Rewritten {
  /** The requests that are rewritten; null when that cannot be determined. */
  readonly takes: Conditions | null
  readonly rewrite: Partial<Extract<RouteFilter, { readonly type: 'rewrite' }>>
  /** Whether these are all requests of the rule. */
  readonly isWhole: boolean
}

function rewriteOf(
  rule: Rule,
  { paths: { rewriteTarget } }: IngressOptions,
  conditions: Conditions,
  tell: (refusal: Refusal) => void,
): Rewritten {
  const target = rule.match === 'regex' && rewriteTarget !== (rule.path || '/') ? rewriteTarget : null
  const rewriting = target === null ? ({ type: 'none' } as const) : rewritingOf(rule.path || '/', target)
  switch (rewriting.type) {
    case 'none':
      return { takes: conditions, rewrite: {}, isWhole: true }
    case 'whole':
      return { takes: conditions, rewrite: { path: rewriting.path }, isWhole: true }
    case 'unknown': {
      const message = 'rewrite-target is not taken: groups that replace no elements of the path are not known; 503.'
      tell({ reason: 'AnnotationRefused', field: rule.field, message })
      return { takes: null, rewrite: {}, isWhole: true }
    }
    case 'elements': {
      const { takes, from, to } = rewriting
      const path: Conditions = takes === null ? [] : [{ on: 'path', compare: takes.compare, values: [takes.value] }]
      const rewrite = { prefix: { from, to } }
      return { takes: [...hostConditions(rule), ...path], rewrite, isWhole: takes === null }
    }
  }
}

/**
 * Headers in which ingress-nginx describes a client's certificate to pods. A client must not be able to set them, not
 * even with underscores.
 */
const TOLD_BY_NGINX = ['verify', 'subject-dn', 'issuer-dn', 'cert'].map((name) => `ssl-client-${name}`)
const FORGED = TOLD_BY_NGINX.flatMap((name) => [name, name.replaceAll('-', '_')])

function withClient(filters: Forward['filters'] & object, { clients }: IngressOptions): Forward['filters'] & object {
  if (clients === null) return filters
  const own = filters.find((one) => one.type === 'request-headers')
  const others = filters.filter((one) => one !== own)
  const verified = clients.isRequired ? [{ name: 'ssl-client-verify', value: 'SUCCESS' }] : []
  const set = [...(own?.set ?? []), ...verified]
  return [...others, { type: 'request-headers', set, remove: FORGED }]
}

function filtersOf(options: IngressOptions, rewrite: Rewritten['rewrite']): Pick<Forward, 'filters'> {
  const { forwarding } = options
  const whole = forwarding.host === null ? rewrite : { ...rewrite, host: forwarding.host }
  const filters: NonNullable<Forward['filters']> = [...withClient([...forwarding.filters], options)]
  if (Object.keys(whole).length > 0) filters.push({ type: 'rewrite', ...whole })
  return filters.length === 0 ? {} : { filters }
}

interface Shared {
  readonly name: string
  readonly field: string
  readonly pool: string
  readonly canary: RuleCanary | null
  readonly conditions: Conditions
}

/**
 * Routes that divide requests between a rule's pool and its canary: by header, then by cookie, then by weight, as
 * ingress-nginx does.
 */
function sharedRoutes(
  { name, field, pool, canary: other, conditions }: Shared,
  forward: (pools: Forward['pools']) => Action,
  regexes: Regexes,
  tell: (refusal: Refusal) => void,
): readonly RouteContentInput[] {
  if (other === null || other.pool === pool) return [{ name, conditions, action: forward([{ pool }]) }]
  const { header, cookie, weight, total } = other.canary
  const when = (mark: string, condition: Conditions[number], to: string): RouteContentInput => ({
    name: `${name}#${mark}`,
    conditions: [...conditions, condition],
    action: forward([{ pool: to }]),
  })
  const routes: RouteContentInput[] = []
  if (header !== null) {
    const on = { on: 'header', name: header.name } as const
    if (header.by.type === 'always-never') {
      routes.push(when('header', { ...on, compare: 'exact', values: ['always'] }, other.pool))
      routes.push(when('no-header', { ...on, compare: 'exact', values: ['never'] }, pool))
    } else {
      const { type, value } = header.by
      const unusable = type === 'regex' ? regexes.refusalOf(value) : null
      if (unusable === null) routes.push(when('header', { ...on, compare: type, values: [value] }, other.pool))
      else tell({ reason: 'InvalidAnnotation', field, message: `canary-by-header-pattern is not taken: ${unusable}` })
    }
  }
  if (cookie !== null) {
    const on = { on: 'cookie', name: cookie, compare: 'exact' } as const
    routes.push(when('cookie', { ...on, values: ['always'] }, other.pool))
    routes.push(when('no-cookie', { ...on, values: ['never'] }, pool))
  }
  const shares = [
    { pool, weight: total - weight },
    { pool: other.pool, weight },
  ].filter((share) => share.weight > 0)
  return [...routes, { name, conditions, action: forward(weight === 0 ? [{ pool }] : shares) }]
}
