import type { ModelView } from '@spout/admission/contract'
import type {
  LoadBalancer,
  LoadBalancerStatus,
  LoadBalancerSummary,
  LocalReport,
  MemberHealth,
  NodeConfirmation,
} from '@spout/model'
import { servingOf } from '@spout/plan'
import { nodeConnection } from '../liveness/node-connection.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { NodeReports } from '../reports/node-reports.ts'
import { type LocalCarrier, localOwners, localProvisioning } from './local-status.ts'
import type { ProvisioningStatus } from './provisioning-status.ts'
import type { ServiceSums } from './service-sums.ts'

export interface LocalCarriersOptions {
  readonly view: ModelView
  readonly liveness: NodeLiveness
  readonly reports: NodeReports
  readonly sums: ServiceSums
}

/** The statuses of load balancers that nodes carry by their own settings. They are few, and nothing is cached. */
export class LocalCarriers {
  readonly #options: LocalCarriersOptions

  constructor(options: LocalCarriersOptions) {
    this.#options = options
  }

  provisioning(loadBalancer: LoadBalancer): ProvisioningStatus {
    return localProvisioning(loadBalancer, this.#of(loadBalancer))
  }

  /** The node that has its address. */
  ownerOf(loadBalancer: LoadBalancer): string | null {
    return localOwners(this.#of(loadBalancer))[0]?.nodeId ?? null
  }

  status(loadBalancer: LoadBalancer): LoadBalancerStatus {
    return {
      ...this.summary(loadBalancer),
      nodes: this.#of(loadBalancer).map((carrier) => confirmationOf(loadBalancer, carrier)),
      members: this.#members(loadBalancer),
      stats: this.#options.sums.of(loadBalancer.id),
    }
  }

  summary(loadBalancer: LoadBalancer): LoadBalancerSummary {
    const { confirmedBy, ...provisioning } = this.provisioning(loadBalancer)
    const members = this.#members(loadBalancer)
    return {
      ...provisioning,
      serving: servingOf(loadBalancer, (_, memberId) => members.get(memberId)),
      confirmedGeneration: confirmedBy === null ? 0 : loadBalancer.generation,
      confirmedAt: confirmedBy === null ? null : (this.#options.reports.node(confirmedBy)?.lastReportAt ?? null),
      ownerNodeId: this.ownerOf(loadBalancer),
    }
  }

  #of({ nodeGroupId, localName }: LoadBalancer): readonly LocalCarrier[] {
    const { view, reports } = this.#options
    const nodes = view.list('node').filter((node) => node.nodeGroupId === nodeGroupId)
    return nodes.flatMap(({ id: nodeId, name }): readonly LocalCarrier[] => {
      const { local, lastReportAt = '' } = reports.node(nodeId) ?? {}
      const report = local?.find((one) => one.name === localName)
      const connection = nodeConnection(nodeId, this.#options)
      return report === undefined ? [] : [{ nodeId, name, connection, lastReportAt, report }]
    })
  }

  /** By member id: what the owner's checks say, or without an owner those of some node. */
  #members(loadBalancer: LoadBalancer): ReadonlyMap<string, MemberHealth> {
    const carriers = this.#of(loadBalancer)
    const report = (localOwners(carriers)[0] ?? carriers[0])?.report
    const health = new Map<string, MemberHealth>()
    for (const { id: poolId, members } of loadBalancer.pools)
      for (const { id: memberId, address, port } of members) {
        const found = healthAt(report, address, port)
        if (found !== undefined) health.set(memberId, { loadBalancerId: loadBalancer.id, poolId, memberId, ...found })
      }
    return health
  }
}

function healthAt(report: LocalReport | undefined, address: string, port: number) {
  const member = report?.members.find((one) => one.address === address && one.port === port)
  return member && { health: member.health, reason: member.reason, since: member.since }
}

const confirmationOf = (
  { vips }: LoadBalancer,
  { nodeId, name, connection, report }: LocalCarrier,
): NodeConfirmation => ({
  ...{ nodeId, nodeName: name, connection, state: report.state, message: report.message },
  announced: report.isOwner ? vips.map(({ address }) => address) : [],
})
