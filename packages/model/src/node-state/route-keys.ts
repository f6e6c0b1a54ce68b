import { ListTally } from '../diff/list-tally.ts'
import type { RouteCondition } from '../routes/route-condition.ts'
import type { NodeRoute } from './index.ts'

export type { RouteCondition }

type On<Subject extends RouteCondition['on']> = RouteCondition & { readonly on: Subject }
/** Conditions on host or path whose outcome is found by a lookup of the host or path, for all requests alike. */
export type HostKeyCondition = On<'host'> & { readonly compare: 'exact' | 'one-label' | 'any-labels' }
export type PathKeyCondition = On<'path'> & { readonly compare: 'exact' | 'elements' | 'prefix' }
export type MethodCondition = On<'method'>
/** Conditions that must be evaluated for each request. */
export type TestedCondition = Exclude<RouteCondition, HostKeyCondition | PathKeyCondition | MethodCondition>

const HOST_KEYS: ReadonlySet<string> = new Set(['exact', 'one-label', 'any-labels'])
const PATH_KEYS: ReadonlySet<string> = new Set(['exact', 'elements', 'prefix'])

export const isHostKey = (condition: RouteCondition): condition is HostKeyCondition =>
  condition.on === 'host' && HOST_KEYS.has(condition.compare)
export const isPathKey = (condition: RouteCondition): condition is PathKeyCondition =>
  condition.on === 'path' && PATH_KEYS.has(condition.compare)
export const isTested = (condition: RouteCondition): condition is TestedCondition =>
  condition.on !== 'method' && !isHostKey(condition) && !isPathKey(condition)

/** Whether the condition depends on the client's certificate. */
export const isOfClient = ({ on }: RouteCondition): boolean => on === 'client-certificate' || on === 'client-name'

/** Whether the action has filters, which change requests or responses. @param action of the model or of a node */
export const isFiltered = (action: {
  readonly type: string
  readonly filters?: readonly unknown[] | undefined
}): boolean => action.filters !== undefined && action.filters.length > 0

interface FeaturedRoute {
  readonly conditions: readonly RouteCondition[]
  readonly action: {
    readonly type: string
    readonly filters?: readonly unknown[] | undefined
    readonly timeouts?: object | undefined
    readonly retry?: object | undefined
    readonly mirrors?: object | undefined
    readonly authorizer?: object | undefined
    readonly basicAuthentication?: object | undefined
    readonly answered?: object | undefined
    readonly clientRate?: object | undefined
    readonly clientConcurrency?: number | undefined
    readonly maxBodyBytes?: number | undefined
    readonly pools?: readonly { readonly filters?: readonly unknown[] | undefined }[] | undefined
    readonly prefix?: object | undefined
  }
}

/** Whether the action has both an authorizer and a list of users. @param action of the model or of a node */
const asksBoth = (action: Pick<FeaturedRoute['action'], 'authorizer' | 'basicAuthentication'>): boolean =>
  action.authorizer !== undefined && action.basicAuthentication !== undefined

const features = new ListTally<FeaturedRoute>(({ conditions, action }) => [
  ...(conditions.some(isOfClient) ? ['l7.client-certificates'] : []),
  ...(conditions.some(isTested) ? ['l7.routes.tests'] : []),
  ...(action.answered === undefined ? [] : ['l7.routes.answered-shares']),
  ...(action.authorizer === undefined ? [] : ['l7.routes.authorizers']),
  ...(action.basicAuthentication === undefined ? [] : ['l7.routes.basic-authentication']),
  // A node that supports each of the two but not both together checks the password and skips the authorizer.
  ...(asksBoth(action) ? ['l7.routes.authorizers-with-passwords'] : []),
  ...(action.maxBodyBytes === undefined ? [] : ['l7.routes.body-limits']),
  ...(action.clientConcurrency === undefined ? [] : ['l7.routes.client-concurrency']),
  ...(action.clientRate === undefined ? [] : ['l7.routes.client-rates']),
  ...(isFiltered(action) ? ['l7.routes.filters'] : []),
  ...(action.mirrors === undefined ? [] : ['l7.routes.mirrors']),
  ...(action.pools?.some(({ filters }) => filters !== undefined) ? ['l7.routes.pool-filters'] : []),
  ...(action.prefix === undefined ? [] : ['l7.routes.prefix-redirects']),
  ...(action.retry === undefined ? [] : ['l7.routes.retries']),
  ...(action.timeouts === undefined ? [] : ['l7.routes.timeouts']),
])

/** Features that these routes need, sorted. The cost depends on the difference to lists that were counted before. */
export const featuresOfRoutes = (routes: readonly FeaturedRoute[]): readonly string[] =>
  routes.length === 0 ? [] : ['l7.routes', ...[...features.of(routes).keys()].sort()]

const conditionCounts = new ListTally<Pick<FeaturedRoute, 'conditions'>>(({ conditions }) => conditions.map(() => ''))

/** How many conditions routes have. The cost depends on the difference to lists that were counted before. */
export const conditionsOfRoutes = (routes: readonly Pick<FeaturedRoute, 'conditions'>[]): number =>
  routes.length === 0 ? 0 : (conditionCounts.of(routes).get('') ?? 0)

const nodePools = new ListTally<NodeRoute>(({ action }) =>
  action.type === 'forward'
    ? [
        ...action.pools,
        ...(action.mirrors ?? []),
        ...(action.authorizer === undefined ? [] : [action.authorizer]),
      ].flatMap(({ pool }) => (pool === null ? [] : [String(pool)]))
    : [],
)

/**
 * Numbers of the pools that a node's routes send to. The cost depends on the difference to lists that were counted
 * before.
 */
export const poolsOfNodeRoutes = (routes: readonly NodeRoute[]): readonly number[] =>
  [...nodePools.of(routes).keys()].map(Number)
