import { AUTOSCALER_TAINT, EXCLUDE_NODE_LABEL, type Node } from '@spout/kube'
import { compareIp, forbiddenRange, formatIp, type Ip, isIp, parseIp } from '@spout/net'
import type { Family } from '../addresses/address-request.ts'
import type { MemberContent } from '../content/content.ts'

/** A node that may receive a Service's traffic, with its address for each family. */
export interface EligibleNode {
  readonly name: string
  readonly addresses: ReadonlyMap<Family, string>
}

/**
 * The nodes behind a load balancer (KEP-3458), sorted by name. Left out are nodes with the exclusion label (whatever
 * its value), nodes that are being deleted or are about to be removed by the autoscaler, and nodes without a network.
 * NotReady and cordoned nodes are included, because health checks decide about them. So are nodes without
 * `spec.providerID`, as on most bare metal.
 */
export function eligibleNodes(nodes: Iterable<Node>): readonly EligibleNode[] {
  return [...nodes]
    .filter(isEligible)
    .map((node) => ({ name: node.metadata.name, addresses: addressesOf(node) }))
    .filter(({ addresses }) => addresses.size > 0)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

function isEligible({ metadata, spec, status }: Node): boolean {
  if (Object.hasOwn(metadata.labels ?? {}, EXCLUDE_NODE_LABEL)) return false
  if (metadata.deletionTimestamp !== undefined) return false
  if ((spec?.taints ?? []).some(({ key }) => key === AUTOSCALER_TAINT)) return false
  return !(status?.conditions ?? []).some(
    ({ type, status: state }) => type === 'NetworkUnavailable' && state === 'True',
  )
}

/** The first internal address of each family. */
export function addressesOf({ status }: Node): ReadonlyMap<Family, string> {
  const addresses = new Map<Family, string>()
  for (const { type, address } of status?.addresses ?? []) {
    if (type !== 'InternalIP' || !isIp(address)) continue
    const ip: Ip = parseIp(address)
    if (!addresses.has(ip.version) && forbiddenRange(ip) === null) addresses.set(ip.version, formatIp(ip))
  }
  return addresses
}

interface NodeAddress {
  readonly name: string
  readonly address: string
}

/** Cache by set of nodes and families, because all Services of a cluster use the same. */
const SORTED = new WeakMap<readonly EligibleNode[], Map<string, readonly NodeAddress[]>>()

/** The nodes as members for a node port, sorted by address. The sorted list is cached. */
export const nodeMembers = (
  nodes: readonly EligibleNode[],
  families: readonly Family[],
  port: number,
  monitorPort: number | null,
): readonly MemberContent[] =>
  sortedAddresses(nodes, families).map(({ name, address }) => ({ name, address, port, weight: 1, monitorPort }))

function sortedAddresses(nodes: readonly EligibleNode[], families: readonly Family[]): readonly NodeAddress[] {
  const known = SORTED.get(nodes) ?? new Map<string, readonly NodeAddress[]>()
  SORTED.set(nodes, known)
  const key = families.join(' ')
  const sorted =
    known.get(key) ??
    nodes
      .flatMap(({ name, addresses }) =>
        families.flatMap((family) => {
          const address = addresses.get(family)
          return address === undefined ? [] : [{ name, address, ip: parseIp(address) }]
        }),
      )
      .sort((a, b) => compareIp(a.ip, b.ip))
      .map(({ name, address }) => ({ name, address }))
  known.set(key, sorted)
  return sorted
}
