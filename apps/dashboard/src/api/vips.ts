import { ask } from './ask.ts'

/** The answer of `GET /vips/{address}/explain`. */
export interface VipExplanation {
  readonly address: string
  readonly loadBalancerId: string
  readonly announcer: string
  readonly nodeGroup: string | null
  readonly shard: number | null
  readonly state: 'announced' | 'not-announced' | 'two-owners'
  readonly owners: readonly string[]
  readonly decision: { readonly message: string }
  readonly lastMove: {
    readonly at: string
    readonly node: string
    readonly from: string | null
    readonly reason: string | null
    readonly durationMs: number | null
  } | null
  readonly nodes: readonly {
    readonly node: string
    readonly connection: string
    readonly scheduling: string | null
    readonly entry: string
    readonly message: string | null
    readonly announces: boolean
  }[]
}

/**
 * Who announces an address, and why.
 * @param loadBalancerId empty: of the load balancer that has it
 * @throws Problem 404 when nobody has it, 400 when several do
 */
export const explainVip = (address: string, loadBalancerId: string, signal: AbortSignal): Promise<VipExplanation> => {
  const which = loadBalancerId === '' ? '' : `?loadBalancer=${encodeURIComponent(loadBalancerId)}`
  return ask('GET', `/vips/${encodeURIComponent(address)}/explain${which}`, { signal })
}
