import type { DomainEntry, DomainSubnet } from '@spout/model/node-state'
import { parseCidr } from '@spout/net'
import { chain, type WholeTable, wholeTable } from '../nft/whole-table.ts'
import { SEGMENT, TUNNEL_PORT, UPLINK, UPLINK_PREFIX6 } from './domain-names.ts'
import type { NetworkShares } from './shares/network-shares.ts'
import { DECLARE_REFUSED, newFlowRule } from './shares/shares-table.ts'

/** The table that keeps a domain closed. Loaded before the domain forwards its first packet, replaced as a whole. */
export const GUARD_TABLE = 'spout-guard'

/** Where no connection to a member may go, whatever the control plane admitted. */
const FORBIDDEN4 = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4']
const FORBIDDEN6 = [
  ...['::/96', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
  ...['fe80::/10', 'fec0::/10', 'ff00::/8', 'fd00:ec2::254/128', UPLINK_PREFIX6],
]
/**
 * Where no answer of a member may go, whatever it claims to answer. Addresses that hold an IPv4 address are not among them:
 * clients have such, behind translators (RFC 7915) and tunnels.
 */
const NO_CLIENTS6 = ['::/127', 'fe80::/10', 'ff00::/8', 'fd00:ec2::254/128', UPLINK_PREFIX6]

/**
 * Local ports of what the domain itself connects to members: the proxy and the probes. Connections that are given the
 * node's address as their source have the ports below, so a reply's port tells whose it is.
 */
export const OWN_PORTS = { first: 32_768, last: 65_535 } as const
const TRANSLATED_PORTS = { first: 1_024, last: OWN_PORTS.first - 1 } as const

/** On a packet of no flow that the driver gave a VIP as its source by hand, ahead of chain `forward`. No service's mark has this bit. */
export const ANSWERED_MARK = 0x4000_0000

/**
 * On what a client says of a flow that this node does not know, where the driver wants the client to say more. The kernel's
 * answer bears it too, by sysctl `fwmark_reflect`. No service's mark has this bit.
 */
export const ASK_BACK_MARK = 0x8000_0000

/**
 * The guard of a domain: a load balancer's node is no router. Requests to a service may enter the segment, their
 * replies may leave; nothing else crosses. With return path `gateway` a reply may come first (another node carried the
 * flow till now): it may leave only if the driver's reverse map gave it a VIP as its source.
 *
 * Every packet pays for the chains of the hooks that it passes, but nat chains see the first packet of a tracked flow
 * alone. What may begin is therefore judged there, and the domain's own connections are not tracked at all.
 * @param protectedCidrs prefixes beside the standing ones that are never a destination
 */
export function renderGuard(
  domain: DomainEntry,
  shares: NetworkShares,
  protectedCidrs: readonly string[] = [],
): WholeTable {
  return wholeTable('inet', GUARD_TABLE, [
    // It is part of the mark: a domain whose guard is older has its sysctls set again.
    '  # relies on tcp_loose, tcp_be_liberal, tcp_ignore_invalid_rst, tcp_max_tw_buckets',
    ...chain('claimed', 'type filter hook prerouting priority raw; policy accept;', claimRules(domain)),
    ...chain('departing', 'type filter hook output priority raw; policy accept;', [
      ...departingRules(domain),
      ...neverAsked(protectedCidrs),
    ]),
    ...chain('answers', null, ANSWER_RULES),
    ...(domain.untracked === true ? CLOSED : trackedChains(domain, shares, protectedCidrs)),
  ])
}

/**
 * Where only the proxy serves, nothing is forwarded. What comes for a VIP and finds no socket the kernel refuses by
 * itself; a rule that asks conntrack would have every packet tracked.
 */
const CLOSED: readonly string[] = chain('forward', 'type filter hook forward priority filter; policy drop;', [])

const trackedChains = (
  domain: DomainEntry,
  shares: NetworkShares,
  protectedCidrs: readonly string[],
): readonly string[] => [
  DECLARE_REFUSED,
  ...chain('begun', 'type nat hook prerouting priority dstnat - 1; policy accept;', [newFlowRule(shares)]),
  ...chain('refused', 'type nat hook input priority 100; policy drop;', refusedRules(domain)),
  ...chain('source', 'type nat hook postrouting priority srcnat + 1; policy accept;', [
    ...neverForwarded(protectedCidrs),
    ...sourceRules(domain),
  ]),
  ...chain('forward', 'type filter hook forward priority filter; policy drop;', forwardRules(domain, protectedCidrs)),
]

/**
 * A member speaks as an address of its own network: as any other it could make a VIP answer to a place that it may not
 * reach itself. Ahead of connection tracking, for both families alike; the kernel's own check (`rp_filter`) knows IPv4
 * alone and costs a route lookup a packet. Replies to the node itself are told by their ports and not tracked.
 */
function claimRules(domain: DomainEntry): readonly string[] {
  const tunnelled = domain.tunnel?.subnets ?? []
  // Each with the node's addresses that its members answer probes to.
  const sources = domain.subnets.flatMap(({ cidr, nodeAddress }) => {
    const own = familyOf(cidr)
    return [cidr, ...tunnelled.flatMap((each) => (familyOf(each.cidr) === own ? [each.cidr] : []))].map((source) => ({
      ...{ ip: own, source, nodeAddress },
    }))
  })
  return [
    `iifname != "${SEGMENT}" accept`,
    ...sources.map(({ ip, source, nodeAddress }) => {
      return `${ip} daddr ${nodeAddress} ${ip} saddr ${source} tcp dport ${OWN_PORTS.first}-${OWN_PORTS.last} notrack accept`
    }),
    ...[...domain.subnets, ...tunnelled].map(({ cidr }) => `${familyOf(cidr)} saddr ${cidr} accept`),
    // Behind routers, the routes say who is there: however many there are, they stand in one place.
    ...(isRouted(domain)
      ? [
          ...domain.subnets.map(({ cidr, nodeAddress }) => {
            const own = `${familyOf(cidr)} daddr ${nodeAddress} tcp dport ${OWN_PORTS.first}-${OWN_PORTS.last}`
            return `${own} ${FROM_BEHIND_ROUTERS} notrack accept`
          }),
          `${FROM_BEHIND_ROUTERS} accept`,
        ]
      : []),
    // Link-local and unspecified addresses: what neighbour discovery speaks as (RFC 4861).
    'ip6 saddr { fe80::/10, :: } accept',
    'drop',
  ]
}

/** The way back to the source is where the packet came from: of a VIP, a stranger or the domain itself it is not. */
const FROM_BEHIND_ROUTERS = `fib saddr . iif oifname "${SEGMENT}"`

const isRouted = ({ routes = [] }: DomainEntry): boolean => routes.length > 0

const familyOf = (cidr: string): 'ip' | 'ip6' => (parseCidr(cidr).version === 4 ? 'ip' : 'ip6')

function forwardRules(domain: DomainEntry, protectedCidrs: readonly string[]): readonly string[] {
  const outwards = `iifname "${SEGMENT}" oifname "${UPLINK}"`
  // A rule each: a set refuses prefixes that overlap.
  const protectedRules = protectedCidrs.map((cidr) => {
    return `${outwards} ${familyOf(cidr)} daddr ${cidr} drop`
  })
  const replyFirst = [
    `# members never open connections through this node; what else begins is judged by chain source`,
    `${outwards} tcp flags & (syn | ack) == syn drop`,
    `${outwards} ip daddr { ${FORBIDDEN4.join(', ')} } drop`,
    `${outwards} ip6 daddr { ${NO_CLIENTS6.join(', ')} } drop`,
    ...protectedRules,
    `${outwards} meta l4proto { tcp, udp } ct state new accept`,
    `${outwards} ct status snat accept`,
    `${outwards} ct state invalid meta mark 0x${ANSWERED_MARK.toString(16)} accept`,
    `iifname "${UPLINK}" oifname "${SEGMENT}" ct status snat ct direction reply accept`,
  ]
  return [
    'ct direction reply ct status dnat accept',
    `ct status dnat oifname "${SEGMENT}" accept`,
    ...(domain.returnPath === 'gateway' ? replyFirst : []),
  ]
}

/**
 * Members see the node's address, or the one that the nodes share, where replies would not come back through it by
 * themselves. A reply that came first and was given no VIP as its source by the driver's table goes nowhere.
 */
function sourceRules(domain: DomainEntry): readonly string[] {
  const of = (version: 4 | 6): readonly DomainSubnet[] =>
    domain.subnets.filter((subnet) => parseCidr(subnet.cidr).version === version)
  const ports = `${TRANSLATED_PORTS.first}-${TRANSLATED_PORTS.last}`
  const translated = ([4, 6] as const).flatMap((version) => {
    const subnets = of(version)
    const ip = version === 4 ? 'ip' : 'ip6'
    if (subnets.length === 0) return []
    if (domain.returnPath === 'snat') {
      const nodes = subnets.map((subnet) => `${subnet.cidr} : ${subnet.sharedAddress ?? subnet.nodeAddress}`).join(', ')
      const flows = `ct status dnat oifname "${SEGMENT}" meta l4proto { tcp, udp, sctp }`
      // The next hop of a host on the segment is itself: a member behind a router sees the node as that router does.
      const place = isRouted(domain) ? `rt ${ip} nexthop` : `${ip} daddr`
      return [`${flows} snat ${ip} to ${place} map { ${nodes} }:${ports}`]
    }
    const hairpin = `ct status dnat iifname "${SEGMENT}" oifname "${SEGMENT}" meta l4proto { tcp, udp, sctp }`
    const behind = `${ip} saddr != { ${subnets.map(({ cidr }) => cidr).join(', ')} }`
    return subnets.flatMap(({ cidr, nodeAddress }) => {
      const source = version === 4 ? nodeAddress : `[${nodeAddress}]`
      const to = `snat ${ip} to ${source}:${ports}`
      if (!isRouted(domain)) return [`${hairpin} ${ip} saddr ${cidr} ${ip} daddr ${cidr} ${to}`]
      // Routers pass answers to clients on their segment, or behind themselves, by the node.
      const near = `rt ${ip} nexthop ${cidr}`
      return [`${hairpin} ${ip} saddr ${cidr} ${near} ${to}`, `${hairpin} ${behind} ${near} ${to}`]
    })
  })
  return [...translated, `iifname "${SEGMENT}" oifname "${UPLINK}" ct status & (snat | dnat) == 0 drop`]
}

/** Prefixes by family, a rule each where they may overlap: a set refuses those. */
const destinations = (protectedCidrs: readonly string[]): readonly string[] => [
  `ip daddr { ${FORBIDDEN4.join(', ')} }`,
  `ip6 daddr { ${FORBIDDEN6.join(', ')} }`,
  ...protectedCidrs.map((cidr) => `${familyOf(cidr)} daddr ${cidr}`),
]

/**
 * The second wall behind admission: whatever a member's address or a subnet says, no request is forwarded there. A flow
 * is judged by its first packet.
 */
const neverForwarded = (protectedCidrs: readonly string[]): readonly string[] =>
  destinations(protectedCidrs).map((where) => `oifname "${SEGMENT}" ${where} drop`)

/** Nor do the proxy and the probes ask there. Neighbours are found by multicast, so only what is asked of members counts. */
const neverAsked = (protectedCidrs: readonly string[]): readonly string[] =>
  destinations(protectedCidrs).flatMap((where) => [
    `${where} meta l4proto { tcp, udp, sctp } drop`,
    `${where} ${where.startsWith('ip6') ? 'icmpv6' : 'icmp'} type echo-request drop`,
  ])

/**
 * The proxy and the probes connect to the tenant's segment alone; anywhere else they only answer. Their TCP is not
 * tracked, but for what carries a mark: answers of connections that are counted (the driver marks their requests).
 */
const departingRules = (domain: DomainEntry): readonly string[] => [
  // What is forwarded through tunnels is not tracked, so whatever comes for a tunnel is a new flow, and refused.
  ...(domain.tunnel === undefined ? [] : [`oifname "${SEGMENT}" udp dport ${TUNNEL_PORT} notrack accept`]),
  // Nearly every packet ends here.
  'meta mark 0 tcp flags & (syn | ack) == ack notrack accept',
  ...(domain.returnPath === 'gateway' ? [ASK_BACK_RULE] : []),
  ...sharedRules(domain),
  `oifname != "${SEGMENT}" goto answers`,
  'meta mark 0 meta l4proto tcp notrack',
  // A probe's INIT. Its answer begins nothing, since an association that is tracked begins with an INIT.
  'meta l4proto sctp notrack',
]

/**
 * A client's FIN makes no flow known, so the kernel would answer it with a reset, though every node deals the flow to the
 * same member. As an ACK of what was never sent the same answer makes the client say where it stands (RFC 9293, 3.10.7.4).
 * That makes the flow known, and its FIN comes again. Not tracked: it would be a flow of the node's own.
 */
const ASK_BACK_RULE = `oifname "${UPLINK}" meta mark 0x${ASK_BACK_MARK.toString(16)} tcp flags & (rst | ack) == rst tcp flags set ack notrack accept`

/**
 * Nobody here speaks as the address that members see of all nodes. A reply of theirs for a flow that this node does not
 * know may be ahead of the word of the node which had the address a moment ago: to refuse it would end the flow.
 */
const sharedRules = ({ subnets }: DomainEntry): readonly string[] =>
  subnets.flatMap(({ cidr, sharedAddress }) => {
    const source = `${familyOf(cidr)} saddr ${sharedAddress}`
    const icmp = familyOf(cidr) === 'ip' ? 'icmp' : 'icmpv6'
    return sharedAddress === null
      ? []
      : [`${source} tcp flags & rst == rst drop`, `${source} ${icmp} type destination-unreachable drop`]
  })

const ANSWER_RULES = [
  'tcp flags & (syn | ack) == syn reject with icmpx admin-prohibited',
  'meta mark 0 meta l4proto tcp notrack',
  'meta l4proto tcp accept',
  'icmp type { echo-reply, destination-unreachable, time-exceeded, parameter-problem } accept',
  'icmpv6 type { echo-reply, destination-unreachable, packet-too-big, time-exceeded, parameter-problem } accept',
  'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, mld-listener-report, mld2-listener-report } accept',
  'reject with icmpx admin-prohibited',
]

/**
 * A VIP is local to the domain: a flow that the driver's table neither translated nor gave to the proxy ends here. A
 * packet that is not tracked belongs to a socket of the domain or to none, and then the kernel refuses it: nothing
 * listens where it could be reached, as the proxy does on the loopback addresses.
 */
const refusedRules = ({ returnPath }: DomainEntry): readonly string[] => [
  'iifname != "lo" socket transparent 1 accept',
  'icmp type echo-request accept',
  'icmpv6 type echo-request accept',
  // Forwarded packet by packet: a node that does not know a service yet, or any more, must not end flows of others.
  ...(returnPath === 'dsr' ? ['tcp flags & (syn | ack) != syn drop'] : []),
  'meta l4proto tcp reject with tcp reset',
  'meta l4proto udp reject with icmpx port-unreachable',
]
