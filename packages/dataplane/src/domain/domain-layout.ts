import { shardOfAnnounce } from '@spout/model/announce'
import { LOCAL_DOMAIN, LOCAL_SEGMENT } from '@spout/model/local-entries'
import type { DomainEntry } from '@spout/model/node-state'
import { ipBits, parseCidr } from '@spout/net'
import type { WholeTable } from '../nft/whole-table.ts'
import { type DomainConfig, sharesOf } from './domain-config.ts'
import { type DomainNames, domainNames, hostLinkPrefix } from './domain-names.ts'
import { renderGuard } from './guard.ts'
import { layOutHosts, type MemberHostsLayout } from './member-hosts.ts'
import { seesWholeFlows } from './whole-flows.ts'

export interface InterfaceAddress {
  readonly address: string
  readonly prefix: number
}

/** What a domain's segment is attached to: an interface of the node and its VLAN, or the node itself as the router. */
export type SegmentPlace =
  | { readonly parent: string; readonly vlan: number | null }
  | { readonly hostLink: string; readonly hostAddresses: readonly InterfaceAddress[] }

/** Everything a domain consists of on this node. Pure data, which the system is compared with. */
export interface DomainLayout {
  readonly key: string
  readonly number: number
  readonly names: DomainNames
  readonly segment: SegmentPlace
  readonly uplinkAddresses: readonly InterfaceAddress[]
  readonly segmentAddresses: readonly InterfaceAddress[]
  /**
   * The gateways among `segmentAddresses` that the planner gave to this node. They are announced when they are added.
   */
  readonly gateways: readonly string[]
  /** Gateway addresses of other nodes, which are never bound here. */
  readonly foreignGateways: readonly string[]
  /** The VNI of tunnels to members behind routers; null for no tunnels. */
  readonly vni: number | null
  /** With return path `node`; null with the others. */
  readonly hosts: MemberHostsLayout | null
  /** Routes through the segment to what is behind routers. */
  readonly routes: readonly { readonly to: string; readonly via: string }[]
  readonly guard: WholeTable
  /** As `seesWholeFlows` of what members see. The guard's mark differs with it. */
  readonly seesWholeFlows: boolean
}

/** @throws RangeError if the node has no interface for the physical network, or cannot route to its members */
export function layOutDomain(config: DomainConfig, domain: DomainEntry): DomainLayout {
  const names = domainNames(config, domain.number)
  const seen = asMembersSee(config, domain)
  const gateways: string[] = []
  const isGateway = domain.returnPath === 'gateway'
  const segmentAddresses = domain.subnets.flatMap(({ cidr, nodeAddress, gatewayIp }) => {
    const { prefix, version } = parseCidr(cidr)
    const node = { address: nodeAddress, prefix }
    if (!isGateway || domain.gateway === null || shardOfAnnounce(domain.gateway) !== null || gatewayIp === null)
      return [node]
    gateways.push(gatewayIp)
    // A host prefix, since an address with the subnet's prefix would be secondary to the node address and be removed
    // with it.
    return [node, { address: gatewayIp, prefix: ipBits(version) }]
  })
  return {
    key: domain.key,
    number: domain.number,
    names,
    segment: placeSegment(config, domain),
    uplinkAddresses: [
      { address: names.domain.ipv4, prefix: 31 },
      { address: names.domain.ipv6, prefix: 127 },
    ],
    segmentAddresses,
    gateways,
    foreignGateways:
      isGateway && domain.gateway !== null ? [] : domain.subnets.flatMap(({ gatewayIp }) => gatewayIp ?? []),
    vni: domain.tunnel?.vni ?? null,
    hosts: layOutHosts(config, domain),
    routes: [
      ...(domain.tunnel?.subnets ?? []).map(({ cidr, via }) => ({ to: cidr, via })),
      ...(domain.routes ?? []).map(({ to, via }) => ({ to, via })),
    ],
    // The protected prefixes are for tenants. Masters, which the node's own settings name, are behind them.
    guard: renderGuard(seen, sharesOf(config), domain.number === LOCAL_DOMAIN ? [] : config.protectedCidrs),
    seesWholeFlows: seesWholeFlows(seen),
  }
}

const onHostSegment = ({ hostSegments = [] }: DomainConfig, { segment }: DomainEntry): boolean =>
  segment.physicalNetwork === LOCAL_SEGMENT || hostSegments.includes(segment.physicalNetwork)

/**
 * The domain with the addresses that its members see. A host segment is a cable to this node alone, so members see the
 * node, whatever address its nodes share. Answers to a shared one would be lost on all nodes but one. Packets come to
 * others, too, while neighbours still think that these have the VIP.
 */
export function asMembersSee(config: DomainConfig, domain: DomainEntry): DomainEntry {
  if (!onHostSegment(config, domain)) return domain
  return { ...domain, subnets: domain.subnets.map((subnet) => ({ ...subnet, sharedAddress: null })) }
}

function placeSegment(config: DomainConfig, domain: DomainEntry): SegmentPlace {
  const { physicalNetwork, vlan } = domain.segment
  if (onHostSegment(config, domain)) {
    // Members answer to the node's address, which only translated requests have as their source, or are on this node.
    if (domain.returnPath !== 'snat' && domain.returnPath !== 'node')
      throw new RangeError(
        `${physicalNetwork} is reached through this node's own routes: its networks need return path snat or node`,
      )
    const hostAddresses = domain.subnets.flatMap(({ cidr, gatewayIp }) =>
      gatewayIp === null ? [] : [{ address: gatewayIp, prefix: parseCidr(cidr).prefix }],
    )
    return { hostLink: `${hostLinkPrefix(config)}${domain.number}`, hostAddresses }
  }
  if (domain.returnPath === 'node')
    throw new RangeError(
      `${physicalNetwork} is not reached through this node's own routes (hostSegments), which return path node needs`,
    )
  const parent = Object.hasOwn(config.segments, physicalNetwork) ? config.segments[physicalNetwork] : undefined
  if (parent === undefined) throw new RangeError(`this node has no interface for physical network ${physicalNetwork}`)
  return { parent, vlan }
}
