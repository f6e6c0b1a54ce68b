import {
  forwardAction,
  type HttpRoute,
  parseAs,
  poolShare,
  type RouteAction,
  type RouteAuthorizer,
  type RouteCondition,
  redirectAction,
  respondAction,
  routeAuthorizer,
  routeMirror,
  routeOptions,
  SpoutError,
} from '@spout/model'
import { z } from 'zod'
import { type OrRefusal, reasonOf, refuse } from '../refusal.ts'

const name = z.string().min(1).max(255)

const { poolId: _, ...authorizerOptions } = routeAuthorizer.shape

const forwardContent = z.strictObject({
  ...forwardAction.shape,
  pools: z
    .array(z.strictObject({ pool: name, weight: poolShare.shape.weight, filters: poolShare.shape.filters }))
    .min(1)
    .max(16)
    .refine((pools) => pools.some(({ weight }) => weight > 0), { message: 'must have a weight above 0' }),
  authorizer: z.strictObject({ ...authorizerOptions, pool: name }).optional(),
  mirrors: z
    .array(z.strictObject({ pool: name, percent: routeMirror.shape.percent }))
    .min(1)
    .optional(),
})

const routeContent = z.strictObject({
  /** Unique in the listener. A route keeps its id while its name stays the same. */
  name,
  conditions: routeOptions.conditions,
  action: z.discriminatedUnion('type', [forwardContent, redirectAction, respondAction]),
})

/** A route of a listener as we write it. It refers to pools by name, which is unique in the document. */
export interface RouteContent {
  readonly name: string
  readonly conditions: readonly RouteCondition[]
  readonly action: z.output<typeof forwardContent> | Exclude<RouteAction, { readonly type: 'forward' }>
  /** Only on a stored route that somebody else has disabled; we never write it. */
  readonly enabled?: false
}

export type RouteContentInput = z.input<typeof routeContent>

/** The names of the pools that a route uses: as backends, as authorizer, or for mirrors. A pool may come twice. */
export const poolNamesOf = ({ action }: Pick<RouteContent, 'action'>): readonly string[] =>
  action.type === 'forward'
    ? [...action.pools, ...(action.authorizer === undefined ? [] : [action.authorizer]), ...(action.mirrors ?? [])].map(
        ({ pool }) => pool,
      )
    : []

/**
 * Adds all defaults to a route, so that it can be compared with the stored one.
 * @param field the field of the object that the route is made of, for a refusal
 * @returns a refusal for a route that the control plane would refuse, such as one with too long a host name. The caller
 * leaves it out, so that one bad route does not block the others
 */
export function routeOf(input: RouteContentInput, field: string): OrRefusal<RouteContent> {
  try {
    return { value: parseAs(routeContent, input) }
  } catch (error) {
    if (!(error instanceof SpoutError)) throw error
    return refuse('InvalidRoute', field, reasonOf(error.message))
  }
}

/** The content of a stored route. @param poolNames names of the document's pools by id */
export function routeContentOf(
  { name, enabled, conditions, action }: HttpRoute,
  poolNames: ReadonlyMap<string, string>,
): RouteContent {
  const off = enabled ? {} : { enabled: false as const }
  if (action.type !== 'forward') return { name, conditions, action, ...off }
  const { pools, authorizer, mirrors, ...others } = action
  return {
    name,
    conditions,
    action: {
      ...others,
      pools: pools.map(({ poolId, ...share }) => ({ pool: poolNames.get(poolId) ?? '', ...share })),
      ...(authorizer !== undefined && { authorizer: authorizerContentOf(authorizer, poolNames) }),
      ...(mirrors !== undefined && {
        mirrors: mirrors.map(({ poolId, percent }) => ({ pool: poolNames.get(poolId) ?? '', percent })),
      }),
    },
    ...off,
  }
}

const authorizerContentOf = ({ poolId, ...options }: RouteAuthorizer, poolNames: ReadonlyMap<string, string>) => ({
  ...options,
  pool: poolNames.get(poolId) ?? '',
})
