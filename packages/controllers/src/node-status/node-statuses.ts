import type { ModelView } from '@spout/admission/contract'
import { fabricAddressOf, GROUP_KEY, type NodeStatus, sameJson, UNSEEN_NODE } from '@spout/model'
import { nodeConnection } from '../liveness/node-connection.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { NodeReports } from '../reports/node-reports.ts'
import { addressProblems, claimProblems, conflictsOf, fabricProblems } from './address-problems.ts'
import { AnnouncedVips } from './announced-vips.ts'
import { flowProblems } from './flow-problems.ts'
import { NodeAddresses } from './node-addresses.ts'

export interface NodeStatusesOptions {
  readonly view: ModelView
  readonly nodeStates: NodeStateTable
  readonly reports: NodeReports
  readonly liveness: NodeLiveness
}

/** Computes the status of nodes from their last reports and those of other nodes. */
export class NodeStatuses {
  readonly #options: NodeStatusesOptions
  readonly #announced: AnnouncedVips
  readonly #addresses: NodeAddresses
  readonly #local = new Map<string, NodeStatus['problems']>()

  constructor(options: NodeStatusesOptions) {
    this.#options = options
    this.#announced = new AnnouncedVips(options)
    this.#addresses = new NodeAddresses(options)
  }

  of(id: string): NodeStatus {
    const { view, nodeStates, reports } = this.#options
    const report = reports.node(id)
    const problems = [...nodeStates.problems(id), ...this.#refusedByNode(id), ...(this.#local.get(id) ?? [])]
    const connection = nodeConnection(id, this.#options)
    if (report === null) return { nodeId: id, connection, ...UNSEEN_NODE, problems }
    const { inSync, lastReportAt, features, shards, bgpSessions, flows, departure } = report
    const { version, fabricAddress, lacksFabricAddress } = report
    const claimed = report.addressConflicts.filter(({ address }) => this.#addresses.has(id, address))
    const addressConflicts = conflictsOf(id, claimed, this.#ownedAddresses())
    const node = view.get('node', id)?.value ?? null
    const counts = this.#announced
    return {
      nodeId: id,
      connection,
      inSync,
      lastReportAt,
      version,
      features,
      shards,
      bgpSessions,
      flows,
      departure,
      addressConflicts,
      fabricAddress,
      // Computed on access, because it is expensive.
      get announced() {
        return counts.of(id)
      },
      problems: [
        ...problems,
        ...fabricProblems(node === null ? null : fabricAddressOf(node), lacksFabricAddress),
        // An address that an administrator set replaces the one that the agent reports.
        ...(node?.fabricAddress === null ? claimProblems(node.seenFabricAddress, fabricAddress) : []),
        ...addressProblems(addressConflicts),
        ...flowProblems(flows, (address) => this.#connectedPeer(id, address)),
      ],
    }
  }

  /** Call when the node's announcements changed, or the node was deleted. */
  nodeChanged(id: string): void {
    if (this.#options.view.get('node', id) === null) this.#local.delete(id)
    this.#announced.nodeChanged(id)
  }

  /** Sets the problems with load balancers of its own settings. @returns whether they changed */
  setLocalProblems(id: string, problems: NodeStatus['problems']): boolean {
    if (sameJson(this.#local.get(id) ?? [], problems)) return false
    if (problems.length === 0) this.#local.delete(id)
    else this.#local.set(id, problems)
    return true
  }

  /** Call when entries under this key changed. */
  keyChanged(key: string): void {
    this.#announced.keyChanged(key)
    this.#addresses.keyChanged()
  }

  /** Problem: the node could not apply its group entry. The message is the announcer's. */
  #refusedByNode(id: string): NodeStatus['problems'] {
    const report = this.#options.reports.entry(id, GROUP_KEY)
    if (report === null || report.state === 'programmed') return []
    return [{ code: report.reason ?? 'GroupRefused', message: report.message ?? '' }]
  }

  *#ownedAddresses(): Iterable<{ readonly address: string; readonly ownerNodeId: string | null }> {
    const { view } = this.#options
    for (const { id, vips } of view.list('loadBalancer')) {
      const ownerNodeId = view.get('placement', id)?.value.ownerNodeId ?? null
      for (const { address } of vips) yield { address, ownerNodeId }
    }
  }

  /** The name of the connected node of the group at this fabric address; null if there is none. */
  #connectedPeer(id: string, address: string): string | null {
    const { view } = this.#options
    const groupId = view.get('node', id)?.value.nodeGroupId
    const peer = view.list('node').find((node) => node.nodeGroupId === groupId && fabricAddressOf(node) === address)
    return peer !== undefined && nodeConnection(peer.id, this.#options) === 'connected' ? peer.name : null
  }
}
