import type { ForwardAction } from '@spout/model'

/** A part of the requests that a route forwards: a pool gets them, or the proxy answers them with a code. */
export type RequestShare = { readonly percent: number } & (
  | { readonly is: 'pool'; readonly poolId: string; readonly filters: ForwardAction['pools'][number]['filters'] }
  | { readonly is: 'answered'; readonly code: number }
)

/** How the requests of a route are shared out, in percent. Pools of weight 0 get none and are there, too. */
export function requestShares({ pools, answered }: ForwardAction): readonly RequestShare[] {
  const all = pools.reduce((sum, { weight }) => sum + weight, answered?.weight ?? 0)
  const percentOf = (weight: number): number => (all === 0 ? 0 : (100 * weight) / all)
  return [
    ...pools.map(({ poolId, weight, filters }) => ({
      is: 'pool' as const,
      percent: percentOf(weight),
      poolId,
      filters,
    })),
    ...(answered === undefined
      ? []
      : [{ is: 'answered' as const, percent: percentOf(answered.weight), code: answered.code }]),
  ]
}
