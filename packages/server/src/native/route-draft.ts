import {
  type ForwardAction,
  forwardAction,
  type Pool,
  poolShare,
  type RouteAction,
  redirectAction,
  respondAction,
  routeOptions,
  SpoutError,
} from '@spout/model'
import { z } from 'zod'
import { echoed, text } from './part-fields.ts'

const forwardDraft = z.strictObject({
  type: forwardAction.shape.type,
  pools: z
    .array(
      z.strictObject({
        poolId: poolShare.shape.poolId.optional(),
        /** The name of a pool of the same load balancer, for a pool whose id is not known yet. */
        pool: z.string().max(255).optional(),
        weight: poolShare.shape.weight,
      }),
    )
    .min(1)
    .max(16),
  filters: forwardAction.shape.filters,
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
  const shares = draft.pools.map(({ poolId, pool, weight }, at): ForwardAction['pools'][number] => {
    const field = `${path}.pools[${at}]`
    if (pool !== undefined && poolId !== undefined)
      throw new SpoutError('InvalidField', { field: `${field}.pool`, reason: 'stands beside poolId' })
    if (pool !== undefined) return { poolId: poolNamed(pools, pool, `${field}.pool`).id, weight }
    if (poolId === undefined) throw new SpoutError('MissingField', { field: `${field}.poolId` })
    return { poolId, weight }
  })
  return { type: 'forward', pools: shares, ...(draft.filters !== undefined && { filters: draft.filters }) }
}

/** @throws SpoutError ReferenceNotFound */
export function poolNamed(pools: readonly Pool[], name: string, field: string): Pool {
  const named = pools.find((pool) => pool.name === name)
  if (named === undefined) throw new SpoutError('ReferenceNotFound', { field, what: 'Pool', id: name })
  return named
}
