import { isDeepStrictEqual } from 'node:util'
import { type HttpRoute, type RouteAction, routeAction } from '@spout/model'
import { z } from 'zod'
import { type Fact, factOf } from '../terms/facts.ts'
import type { OctaviaPolicy, OctaviaRule } from '../terms/octavia-resources.ts'
import { POLICY_ACTIONS, POLICY_CODES, type PolicyAction, RULE_COMPARES, RULE_TYPES } from '../terms/words.ts'
import { OctaviaFault, unsupportedOption } from '../wire/fault.ts'
import { pythonText } from '../wire/python-text.ts'
import { conditionOf } from './convert-l7rule.ts'

/** Octavia's order: rejections before redirects before pools, each by position. */
const RANKS: Readonly<Record<PolicyAction, number>> = {
  REJECT: 0,
  REDIRECT_TO_URL: 1,
  REDIRECT_PREFIX: 1,
  REDIRECT_TO_POOL: 2,
}

/**
 * The routes of policies, in the order in which they are tried.
 * @param policies by position
 * @throws OctaviaFault for what Octavia refuses or what is not supported here
 */
export const routesOf = (policies: readonly OctaviaPolicy[]): readonly HttpRoute[] =>
  policies.toSorted((a, b) => RANKS[a.action] - RANKS[b.action]).map(routeOf)

/** Converts a policy to a route. A policy without an enabled rule matches no request, so its route is disabled. */
function routeOf(policy: OctaviaPolicy): HttpRoute {
  const { model, rules } = policy
  const conditions = rules.filter((rule) => rule.model.enabled).map(conditionOf)
  return { ...model, enabled: model.enabled && conditions.length > 0, conditions, action: actionOf(policy) }
}

const invalidArgs = (why: string): OctaviaFault => new OctaviaFault(400, `Invalid L7 Policy arguments: ${why}`)

function actionOf({
  action,
  redirectPoolId,
  redirectUrl,
  redirectPrefix,
  redirectHttpCode,
}: OctaviaPolicy): RouteAction {
  switch (action) {
    case 'REJECT':
      return { type: 'respond', code: 403 }
    case 'REDIRECT_TO_POOL':
      if (redirectPoolId === null) throw invalidArgs('redirect_pool_id or redirect_pool must not be None')
      return { type: 'forward', pools: [{ poolId: redirectPoolId, weight: 1 }] }
    case 'REDIRECT_TO_URL':
      if (redirectUrl === null) throw invalidArgs('redirect_url must not be None')
      return redirect('redirect_url', redirectUrl, redirectHttpCode, true)
    case 'REDIRECT_PREFIX':
      if (redirectPrefix === null) throw invalidArgs('redirect_prefix must not be None')
      return redirect('redirect_prefix', redirectPrefix, redirectHttpCode, false)
  }
}

/** @param hasPath whether the URL contains the path to redirect to; otherwise the path of the request is kept */
function redirect(name: string, text: string, code: number | null, hasPath: boolean): RouteAction {
  const url = URL.canParse(text) ? new URL(text) : null
  const refuse = (why: string) => unsupportedOption(`${name} ${pythonText(text)}: ${why}`)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refuse('redirects are to http and https URLs here')
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw refuse('redirects have no user, password or fragment here')
  if (!hasPath && url.search !== '') throw refuse('a prefix has no query here')
  // The path of the request follows, and begins with a slash.
  const prefix = url.pathname.replace(/\/$/, '')
  const parsed = routeAction.safeParse({
    type: 'redirect',
    code: code ?? DEFAULT_CODE,
    scheme: url.protocol.slice(0, -1),
    host: url.hostname,
    port: url.port === '' ? null : Number(url.port),
    path: hasPath ? `${url.pathname}${url.search}` : null,
    pathPrefix: hasPath || prefix === '' ? null : prefix,
  })
  if (parsed.success) return parsed.data
  throw refuse(parsed.error.issues[0]?.message ?? 'is not valid')
}

export const DEFAULT_CODE = 302

const text = z.string()
const stamped = { tags: z.array(text), enabled: z.boolean(), createdAt: text, updatedAt: text.nullable() }
const ruleFact = z.object({
  ...stamped,
  type: z.enum(RULE_TYPES),
  compare: z.enum(RULE_COMPARES),
  key: text.nullable(),
  value: text,
  invert: z.boolean(),
})
const policyFact = z.object({
  position: z.number(),
  enabled: z.boolean(),
  action: z.enum(POLICY_ACTIONS),
  url: text.nullable(),
  prefix: text.nullable(),
  code: z.literal([...POLICY_CODES]).nullable(),
  rules: z.array(text),
})

/** The facts that keep what the routes of policies do not contain. @param policies by position */
export const policyFacts = (policies: readonly OctaviaPolicy[]): readonly Fact[] =>
  policies.flatMap((policy, at) => [
    {
      id: policy.model.id,
      name: 'l7policy' as const,
      value: JSON.stringify({
        position: at + 1,
        enabled: policy.model.enabled,
        action: policy.action,
        url: policy.redirectUrl,
        prefix: policy.redirectPrefix,
        code: policy.redirectHttpCode,
        rules: policy.rules.map(({ model }) => model.id),
      }),
    },
    ...policy.rules.map(({ model: { id, ...model }, ...rule }) => ({
      ...{ id, name: 'l7rule' as const },
      value: JSON.stringify({ ...model, ...rule }),
    })),
  ])

export interface Unfolded {
  /** By position. */
  readonly policies: readonly OctaviaPolicy[]
  /**
   * Routes that were not made through Octavia's API, or were changed since. They stay as they are, behind the others.
   */
  readonly others: readonly HttpRoute[]
}

/** Finds the policies that routes were made from. */
export function unfoldPolicies(routes: readonly HttpRoute[], annotations: Readonly<Record<string, string>>): Unfolded {
  const found: { readonly position: number; readonly policy: OctaviaPolicy }[] = []
  const others: HttpRoute[] = []
  for (const route of routes) {
    const known = knownPolicy(route, annotations)
    if (known !== null && isDeepStrictEqual(compiled(known.policy), route)) found.push(known)
    else others.push(route)
  }
  const policies = found.toSorted((a, b) => a.position - b.position).map(({ policy }) => policy)
  return { policies, others }
}

/** The route of a policy; null for a policy that an earlier version accepted and this one does not. */
function compiled(policy: OctaviaPolicy): HttpRoute | null {
  try {
    return routeOf(policy)
  } catch (error) {
    if (error instanceof OctaviaFault) return null
    throw error
  }
}

function knownPolicy({ conditions: _, action, ...model }: HttpRoute, annotations: Readonly<Record<string, string>>) {
  const fact = parsed(policyFact, factOf(annotations, model.id, 'l7policy'))
  if (fact === null) return null
  const rules = fact.rules.map((id) => knownRule(id, annotations))
  if (!rules.every((rule) => rule !== null)) return null
  const policy: OctaviaPolicy = {
    model: { ...model, enabled: fact.enabled },
    action: fact.action,
    redirectPoolId: action.type === 'forward' ? (action.pools[0]?.poolId ?? null) : null,
    redirectUrl: fact.url,
    redirectPrefix: fact.prefix,
    redirectHttpCode: fact.code,
    rules,
  }
  return { position: fact.position, policy }
}

function knownRule(id: string, annotations: Readonly<Record<string, string>>): OctaviaRule | null {
  const fact = parsed(ruleFact, factOf(annotations, id, 'l7rule'))
  if (fact === null) return null
  const { tags, enabled, createdAt, updatedAt, ...rule } = fact
  return { model: { id, tags, enabled, createdAt, updatedAt }, ...rule }
}

function parsed<T extends z.ZodType>(schema: T, value: string | null): z.output<T> | null {
  if (value === null) return null
  try {
    return schema.safeParse(JSON.parse(value)).data ?? null
  } catch {
    return null
  }
}
