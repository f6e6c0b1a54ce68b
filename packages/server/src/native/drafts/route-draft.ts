import {
  forwardAction,
  MOST_MIRRORS,
  type Pool,
  poolShare,
  type RouteAction,
  type RouteAuthorizer,
  redirectAction,
  respondAction,
  routeAuthorizer,
  routeMirror,
  routeOptions,
  SpoutError,
} from '@spout/model'
import { z } from 'zod'
import { echoed, text } from './part-fields.ts'

const namedPool = {
  poolId: poolShare.shape.poolId.optional(),
  /** The name of a pool of the same load balancer, for a pool whose id is not known yet. */
  pool: z.string().max(255).optional(),
}

const forwardDraft = z.strictObject({
  ...forwardAction.shape,
  pools: z
    .array(z.strictObject({ ...poolShare.shape, ...namedPool }))
    .min(1)
    .max(16),
  authorizer: z.strictObject({ ...routeAuthorizer.shape, ...namedPool }).optional(),
  mirrors: z
    .array(z.strictObject({ ...namedPool, percent: routeMirror.shape.percent }))
    .min(1)
    .max(MOST_MIRRORS)
    .optional(),
})

export const routeDraft = z.strictObject({
  ...text,
  ...echoed,
  ...routeOptions,
  action: z.discriminatedUnion('type', [forwardDraft, redirectAction, respondAction], {
    error: 'must be one of forward, redirect, respond',
  }),
})
export type RouteDraft = z.output<typeof routeDraft>

/**
 * @param pools those of the load balancer
 * @param path of the action in the request
 * @throws SpoutError ReferenceNotFound, MissingField, InvalidField
 */
export function actionOf(draft: RouteDraft['action'], pools: readonly Pool[], path: string): RouteAction {
  if (draft.type !== 'forward') return draft
  const idOf = ({ poolId, pool }: NamedPool, field: string): string => {
    if (pool !== undefined && poolId !== undefined)
      throw new SpoutError('InvalidField', { field: `${field}.pool`, reason: 'cannot be combined with poolId' })
    if (pool !== undefined) return poolNamed(pools, pool, `${field}.pool`).id
    if (poolId === undefined) throw new SpoutError('MissingField', { field: `${field}.poolId` })
    return poolId
  }
  const { mirrors, authorizer, ...others } = draft
  return {
    ...others,
    pools: draft.pools.map(({ pool, poolId, ...one }, at) => ({
      ...one,
      poolId: idOf({ pool, poolId }, `${path}.pools[${at}]`),
    })),
    ...(authorizer !== undefined && { authorizer: authorizerOf(authorizer, idOf, `${path}.authorizer`) }),
    ...(mirrors !== undefined && {
      mirrors: mirrors.map((one, at) => ({ poolId: idOf(one, `${path}.mirrors[${at}]`), percent: one.percent })),
    }),
  }
}

const authorizerOf = (
  { pool, poolId, ...options }: NonNullable<z.output<typeof forwardDraft>['authorizer']>,
  idOf: (named: NamedPool, field: string) => string,
  field: string,
): RouteAuthorizer => ({ ...options, poolId: idOf({ pool, poolId }, field) })

interface NamedPool {
  readonly poolId?: string | undefined
  readonly pool?: string | undefined
}

/** @throws SpoutError ReferenceNotFound */
export function poolNamed(pools: readonly Pool[], name: string, field: string): Pool {
  const named = pools.find((pool) => pool.name === name)
  if (named === undefined) throw new SpoutError('ReferenceNotFound', { field, what: 'Pool', id: name })
  return named
}
