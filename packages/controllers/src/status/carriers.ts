import type { ModelView } from '@spout/admission/contract'
import {
  type LoadBalancer,
  type LoadBalancerEntry,
  loadBalancerKey,
  type MemberHealth,
  type NodeConfirmation,
  type NodeVip,
  type OverShareReport,
  type ShareName,
} from '@spout/model'
import type { HealthOf } from '@spout/plan'
import { nodeConnection } from '../liveness/node-connection.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { NodeReports } from '../reports/node-reports.ts'
import type { LogTroubleOnNode } from './log-troubles.ts'
import type { OverShareOnNode } from './over-shares.ts'
import { type Carrier, followsShard, isRouted } from './provisioning-status.ts'

export interface CarriersOptions {
  readonly view: ModelView
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  readonly reports: NodeReports
}

/** Looks up the carriers of load balancers and what they reported. */
export class Carriers {
  readonly #options: CarriersOptions

  constructor(options: CarriersOptions) {
    this.#options = options
  }

  /** @param who id of the one carrier that counts, 'all', or null for none. @returns sorted by node id */
  of(id: string, who: string | 'all' | null): readonly Carrier[] {
    if (who === null) return []
    const { nodeStates, liveness, reports } = this.#options
    const key = loadBalancerKey(id)
    const nodeIds = who === 'all' ? [...nodeStates.nodesWith(key)].sort() : [who]
    return nodeIds.flatMap((nodeId): Carrier[] => {
      const wanted = nodeStates.get(nodeId, key)
      if (wanted === null) return []
      const report = reports.entry(nodeId, key)
      return [{ nodeId, name: this.#nameOf(nodeId), liveness: liveness.of(nodeId), wanted, report }]
    })
  }

  confirmations(id: string): readonly NodeConfirmation[] {
    const { nodeStates, reports } = this.#options
    const key = loadBalancerKey(id)
    return [...nodeStates.nodesWith(key)].map((nodeId): NodeConfirmation => {
      const report = reports.entry(nodeId, key)
      const current = report !== null && report.hash === nodeStates.get(nodeId, key)?.hash
      return {
        nodeId,
        nodeName: this.#nameOf(nodeId),
        connection: nodeConnection(nodeId, this.#options),
        state: current ? report.state : 'waiting',
        message: current ? report.message : null,
        announced: report?.announced ?? [],
      }
    })
  }

  /**
   * The health of its members. The owner's report counts, because the owner forwards the traffic. Until it has reported
   * (the load balancer has just moved), the worst report of the other carriers counts.
   */
  healthOf({ id }: Pick<LoadBalancer, 'id'>, ownerNodeId: string | null): HealthOf {
    const { nodeStates, reports } = this.#options
    const owner = ownerNodeId === null ? null : reports.members(ownerNodeId, id)
    const others = [...nodeStates.nodesWith(loadBalancerKey(id))].flatMap((nodeId) => reports.members(nodeId, id) ?? [])
    return ({ monitor }, memberId) => {
      // Without a monitor, earlier reports mean nothing.
      if (monitor === null || !monitor.enabled) return undefined
      return owner?.get(memberId) ?? worst(others.flatMap((members) => members.get(memberId) ?? []))
    }
  }

  /** The same by member id. */
  members(loadBalancer: LoadBalancer, ownerNodeId: string | null): ReadonlyMap<string, MemberHealth> {
    const healthOf = this.healthOf(loadBalancer, ownerNodeId)
    const health = new Map<string, MemberHealth>()
    for (const pool of loadBalancer.pools)
      for (const member of pool.members) {
        const report = healthOf(pool, member.id)
        if (report !== undefined) health.set(member.id, report)
      }
    return health
  }

  /** What of its entries decides which reports concern it: the nodes, the domain, and whether its proxy is its own. */
  places(id: string): string {
    const { nodeStates } = this.#options
    const key = loadBalancerKey(id)
    const places = [...nodeStates.nodesWith(key)].sort().flatMap((nodeId) => {
      const entry = nodeStates.get(nodeId, key)?.entry
      return entry?.kind === 'load-balancer' ? [nodeId, entry.domain, entry.dedicatedProxy !== undefined] : []
    })
    return JSON.stringify(places)
  }

  /** Reports that its network, or its own proxy, exceeds a share, sorted by node id. */
  overShares(id: string): readonly OverShareOnNode[] {
    const { nodeStates, reports } = this.#options
    const key = loadBalancerKey(id)
    return [...nodeStates.nodesWith(key)].sort().flatMap((nodeId): readonly OverShareOnNode[] => {
      const over = reports.node(nodeId)?.overShares ?? []
      if (over.length === 0) return []
      const entry = nodeStates.get(nodeId, key)?.entry
      if (entry?.kind !== 'load-balancer') return []
      return over.filter((one) => concerns(one, entry)).map((one) => ({ nodeName: this.#nameOf(nodeId), ...one }))
    })
  }

  /** Reports that its access logs cannot be delivered, sorted by node id. */
  logTroubles(id: string): readonly LogTroubleOnNode[] {
    const { nodeStates, reports } = this.#options
    return [...nodeStates.nodesWith(loadBalancerKey(id))].sort().flatMap((nodeId): readonly LogTroubleOnNode[] => {
      const troubles = reports.node(nodeId)?.logTroubles ?? []
      return troubles
        .filter(({ loadBalancerId }) => loadBalancerId === id)
        .map((one) => ({ nodeName: this.#nameOf(nodeId), ...one }))
    })
  }

  /** Whether a VIP of it follows the master of its shard. */
  isSharded(id: string): boolean {
    return this.#vips(id).some(({ announce }) => followsShard(announce))
  }

  /** Whether every node announces this address. */
  isRouted(id: string, address: string): boolean {
    return this.#vips(id).some((vip) => vip.address === address && isRouted(vip.announce))
  }

  /** The VIPs in any node's entry: for VIPs with shards, and those that every node announces, all entries are equal. */
  #vips(id: string): readonly NodeVip[] {
    const { nodeStates } = this.#options
    const key = loadBalancerKey(id)
    for (const nodeId of nodeStates.nodesWith(key)) {
      const entry = nodeStates.get(nodeId, key)?.entry
      if (entry?.kind === 'load-balancer') return entry.vips
    }
    return []
  }

  #nameOf(nodeId: string): string {
    return this.#options.view.get('node', nodeId)?.value.name ?? nodeId
  }
}

/**
 * Whether the share limits this load balancer. A share of a proxy does only if it is the proxy that the load balancer
 * uses.
 */
const concerns = ({ domain, share, loadBalancerId }: OverShareReport, entry: LoadBalancerEntry): boolean =>
  domain === entry.domain &&
  (!PROXY_SHARES.has(share) || loadBalancerId === (entry.dedicatedProxy === undefined ? undefined : entry.id))

const PROXY_SHARES: ReadonlySet<ShareName> = new Set(['processors', 'memory', 'connections'])

const SEVERITY = { down: 2, unknown: 1, up: 0 } as const

const worst = (reports: readonly MemberHealth[]): MemberHealth | undefined =>
  reports.reduce<MemberHealth | undefined>(
    (bad, report) => (bad === undefined || SEVERITY[report.health] > SEVERITY[bad.health] ? report : bad),
    undefined,
  )
