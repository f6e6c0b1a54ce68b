import type { ModelView } from '@spout/admission/contract'
import { fabricAddressOf, type NodeStateEntry } from '@spout/model'
import type { NodeStateTable } from '../node-states/node-state-table.ts'

export interface NodeAddressesOptions {
  readonly view: ModelView
  readonly nodeStates: NodeStateTable
}

/** Looks up the addresses that each node should have. Only claims to these are conflicts. */
export class NodeAddresses {
  readonly #options: NodeAddressesOptions
  /** By node id. Cached until any entry changes, and computed only for nodes that report a conflict. */
  readonly #known = new Map<string, ReadonlySet<string>>()

  constructor(options: NodeAddressesOptions) {
    this.#options = options
  }

  has(nodeId: string, address: string): boolean {
    const node = this.#options.view.get('node', nodeId)?.value
    if (node !== undefined && fabricAddressOf(node) === address) return true
    const known = this.#known.get(nodeId) ?? this.#collect(nodeId)
    this.#known.set(nodeId, known)
    return known.has(address)
  }

  /** Call when an entry of any node changed. */
  keyChanged(): void {
    this.#known.clear()
  }

  #collect(nodeId: string): ReadonlySet<string> {
    const addresses = new Set<string>()
    for (const { entry } of this.#options.nodeStates.entries(nodeId))
      for (const address of addressesOf(entry)) addresses.add(address)
    return addresses
  }
}

function addressesOf(entry: NodeStateEntry): readonly string[] {
  if (entry.kind === 'load-balancer') return entry.vips.map(({ address }) => address)
  if (entry.kind === 'group') return entry.vrrp === null ? [] : [entry.vrrp.source]
  return entry.subnets.flatMap(({ nodeAddress, gatewayIp, sharedAddress }) => [
    nodeAddress,
    ...(gatewayIp === null ? [] : [gatewayIp]),
    ...(sharedAddress === null ? [] : [sharedAddress]),
  ])
}
