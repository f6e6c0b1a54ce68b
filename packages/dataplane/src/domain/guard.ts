import type { DomainEntry, DomainSubnet } from '@spout/model/node-state'
import { parseCidr } from '@spout/net'
import { chain, type WholeTable, wholeTable } from '../nft/whole-table.ts'
import { SEGMENT, TUNNEL_PORT, UPLINK, UPLINK_PREFIX6 } from './domain-names.ts'
import type { NetworkShares } from './shares/network-shares.ts'
import { DECLARE_REFUSED, newFlowRule } from './shares/shares-table.ts'
import { seesWholeFlows } from './whole-flows.ts'

/**
 * The packet filter that isolates a domain. Loaded before the domain forwards its first packet, and replaced as a
 * whole.
 */
export const GUARD_TABLE = 'spout-guard'

/** Forbidden destinations of connections to members, whatever the control plane admitted. */
const FORBIDDEN4 = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4']
const FORBIDDEN6 = [
  ...['::/96', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
  ...['fe80::/10', 'fec0::/10', 'ff00::/8', 'fd00:ec2::254/128', UPLINK_PREFIX6],
]
/**
 * Forbidden destinations of members' replies. Addresses that embed an IPv4 address are allowed, since clients behind
 * translators (RFC 7915) and tunnels have them.
 */
const NO_CLIENTS6 = ['::/127', 'fe80::/10', 'ff00::/8', 'fd00:ec2::254/128', UPLINK_PREFIX6]

/**
 * Local ports of the domain's own connections to members, by the proxy and the probes. Connections that are translated
 * to the node's address use the ports below, so the port of a reply tells which kind it belongs to.
 */
export const OWN_PORTS = { first: 32_768, last: 65_535 } as const
const TRANSLATED_PORTS = { first: 1_024, last: OWN_PORTS.first - 1 } as const

/**
 * Marks a packet without a flow whose source the driver set to a VIP, before chain `forward`. No service's mark has
 * this bit.
 */
export const ANSWERED_MARK = 0x4000_0000

/**
 * Marks a client's packet of a flow that is unknown here, if the driver wants the client to send more. The kernel's
 * response has the same mark, by sysctl `fwmark_reflect`. No service's mark has this bit.
 */
export const ASK_BACK_MARK = 0x8000_0000

/**
 * Renders the guard of a domain, which keeps the node from being a router. Requests to a service may enter the segment,
 * and their replies may leave it; nothing else is forwarded. With return path `gateway` a reply may be the first
 * packet, since another node carried the flow before; it may leave only if the driver's reverse map set its source to a
 * VIP.
 *
 * Every packet passes the chains of its hooks, but nat chains see only the first packet of a tracked flow. So the guard
 * decides there which flows may begin. The domain's own connections are not tracked.
 * @param protectedCidrs prefixes that are never a destination, besides the fixed ones
 */
export function renderGuard(
  domain: DomainEntry,
  shares: NetworkShares,
  protectedCidrs: readonly string[] = [],
): WholeTable {
  return wholeTable('inet', GUARD_TABLE, [
    // The version is part of the mark, so that a domain with an older guard gets its sysctls again.
    `  # relies on tcp_loose, tcp_be_liberal${seesWholeFlows(domain) ? '=0' : ''}, tcp_ignore_invalid_rst, tcp_max_tw_buckets`,
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
 * If only the proxy serves, nothing is forwarded. The kernel itself refuses packets for a VIP without a socket. A rule
 * that uses conntrack would make the kernel track every packet.
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
  ...chain('early', 'type filter hook input priority filter; policy accept;', [EARLY_ACK_RULE]),
  ...chain('source', 'type nat hook postrouting priority srcnat + 1; policy accept;', [
    ...neverForwarded(protectedCidrs),
    ...sourceRules(domain),
  ]),
  ...chain('forward', 'type filter hook forward priority filter; policy drop;', forwardRules(domain, protectedCidrs)),
]

/**
 * A member may send only from addresses of its own network. With another source it could make a VIP answer to an
 * address that the member itself cannot reach. The check runs before connection tracking, for both families; the
 * kernel's own check (`rp_filter`) supports only IPv4 and costs a route lookup per packet. Replies to the node itself
 * are recognized by their ports and not tracked.
 */
function claimRules(domain: DomainEntry): readonly string[] {
  const tunnelled = domain.tunnel?.subnets ?? []
  // Each subnet, with the node's addresses to which its members answer probes.
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
    // For members behind routers, the routes decide in one lookup, however many there are.
    ...(isRouted(domain)
      ? [
          ...domain.subnets.map(({ cidr, nodeAddress }) => {
            const own = `${familyOf(cidr)} daddr ${nodeAddress} tcp dport ${OWN_PORTS.first}-${OWN_PORTS.last}`
            return `${own} ${FROM_BEHIND_ROUTERS} notrack accept`
          }),
          `${FROM_BEHIND_ROUTERS} accept`,
        ]
      : []),
    // Link-local and unspecified addresses, which neighbour discovery uses (RFC 4861).
    'ip6 saddr { fe80::/10, :: } accept',
    'drop',
  ]
}

/**
 * The route to the source leads back to the segment. This is not so for a VIP, a foreign address or the domain itself.
 */
const FROM_BEHIND_ROUTERS = `fib saddr . iif oifname "${SEGMENT}"`

const isRouted = ({ routes = [] }: DomainEntry): boolean => routes.length > 0

const familyOf = (cidr: string): 'ip' | 'ip6' => (parseCidr(cidr).version === 4 ? 'ip' : 'ip6')

function forwardRules(domain: DomainEntry, protectedCidrs: readonly string[]): readonly string[] {
  const outwards = `iifname "${SEGMENT}" oifname "${UPLINK}"`
  // One rule for each prefix, since a set rejects overlapping prefixes.
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
    ...(domain.returnPath === 'node' ? [SHORTER_SEGMENTS_RULE] : []),
    'ct direction reply ct status dnat accept',
    `ct status dnat oifname "${SEGMENT}" accept`,
    ...(domain.returnPath === 'gateway' ? replyFirst : []),
  ]
}

/**
 * A client's packets reach a member's node in a tunnel, with up to 70 bytes more. A member that announces a smaller
 * segment gets packets that need no fragments on a path of 1,500 bytes. The kernel never raises the value.
 */
const SHORTER_SEGMENTS_RULE = `iifname "${SEGMENT}" oifname "${UPLINK}" tcp flags & (syn | ack) == (syn | ack) tcp option maxseg size set 1370`

/**
 * Drops a client's ACK of a flow whose SYN passed here and whose SYN+ACK passed another node. Conntrack calls it invalid
 * while it waits for the SYN+ACK. The member repeats that after a second, when its replies pass this node. The kernel
 * would answer the ACK with a reset, which ends the connection.
 */
const EARLY_ACK_RULE = `ct state invalid meta mark 0 iifname "${UPLINK}" tcp flags & (fin | syn | rst | ack) == ack drop`

/**
 * Source NAT to the node's address, or to the address that the nodes share, where replies would not return through this
 * node otherwise. A reply that came first and whose source the driver did not set to a VIP is dropped.
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
      // The next hop of a host on the segment is the host itself. A member behind a router sees the node's address on
      // that router's segment.
      const place = isRouted(domain) ? `rt ${ip} nexthop` : `${ip} daddr`
      return [`${flows} snat ${ip} to ${place} map { ${nodes} }:${ports}`]
    }
    const hairpin = `ct status dnat iifname "${SEGMENT}" oifname "${SEGMENT}" meta l4proto { tcp, udp, sctp }`
    const behind = `${ip} saddr != { ${subnets.map(({ cidr }) => cidr).join(', ')} }`
    return subnets.flatMap(({ cidr, nodeAddress }) => {
      const source = version === 4 ? nodeAddress : `[${nodeAddress}]`
      const to = `snat ${ip} to ${source}:${ports}`
      if (!isRouted(domain)) return [`${hairpin} ${ip} saddr ${cidr} ${ip} daddr ${cidr} ${to}`]
      // Routers pass responses to clients on their segment, or behind themselves, without this node.
      const near = `rt ${ip} nexthop ${cidr}`
      return [`${hairpin} ${ip} saddr ${cidr} ${near} ${to}`, `${hairpin} ${behind} ${near} ${to}`]
    })
  })
  return [...translated, `iifname "${SEGMENT}" oifname "${UPLINK}" ct status & (snat | dnat) == 0 drop`]
}

/** Prefixes by family, one rule each, since a set rejects overlapping prefixes. */
const destinations = (protectedCidrs: readonly string[]): readonly string[] => [
  `ip daddr { ${FORBIDDEN4.join(', ')} }`,
  `ip6 daddr { ${FORBIDDEN6.join(', ')} }`,
  ...protectedCidrs.map((cidr) => `${familyOf(cidr)} daddr ${cidr}`),
]

/**
 * Second check behind admission: no request is forwarded to these prefixes, whatever the address of a member or subnet
 * is. A flow is checked by its first packet.
 */
const neverForwarded = (protectedCidrs: readonly string[]): readonly string[] =>
  destinations(protectedCidrs).map((where) => `oifname "${SEGMENT}" ${where} drop`)

/**
 * The proxy and the probes do not connect to them either. Neighbour discovery uses multicast, so only connections to
 * members are checked.
 */
const neverAsked = (protectedCidrs: readonly string[]): readonly string[] =>
  destinations(protectedCidrs).flatMap((where) => [
    `${where} meta l4proto { tcp, udp, sctp } drop`,
    `${where} ${where.startsWith('ip6') ? 'icmpv6' : 'icmp'} type echo-request drop`,
  ])

/**
 * The proxy and the probes connect only to the tenant's segment; elsewhere they only answer. Their TCP is not tracked,
 * except for marked packets: responses of counted connections, whose requests the driver marks.
 */
const departingRules = (domain: DomainEntry): readonly string[] => [
  // Packets that are forwarded through tunnels are not tracked, so a packet that arrives from a tunnel begins a new
  // flow, which is refused.
  ...(domain.tunnel === undefined ? [] : [`oifname "${SEGMENT}" udp dport ${TUNNEL_PORT} notrack accept`]),
  // Matches nearly every packet.
  'meta mark 0 tcp flags & (syn | ack) == ack notrack accept',
  ...(domain.returnPath === 'gateway' ? [ASK_BACK_RULE] : []),
  ...sharedRules(domain),
  `oifname != "${SEGMENT}" goto answers`,
  'meta mark 0 meta l4proto tcp notrack',
  // A probe's INIT. Its answer begins no flow, since a tracked association begins with an INIT.
  'meta l4proto sctp notrack',
]

/**
 * A FIN of a client does not create a flow, so the kernel would answer it with a reset, although every node would pick
 * the same member. If the same answer is sent as an ACK of a sequence that was never sent, the client answers with its
 * own sequence (RFC 9293, 3.10.7.4). That creates the flow, and the client sends its FIN again. Not tracked, since it
 * would be a flow of the node itself.
 */
const ASK_BACK_RULE = `oifname "${UPLINK}" meta mark 0x${ASK_BACK_MARK.toString(16)} tcp flags & (rst | ack) == rst tcp flags set ack notrack accept`

/**
 * No connection of this domain uses the address that members see of all nodes. A reply to it for an unknown flow may
 * arrive before the record of the node that had the address a moment ago. Refusing it would end the flow.
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
 * A VIP is local to the domain. A flow that the driver's table neither translated nor redirected to the proxy is
 * refused here. An untracked packet belongs to a socket of the domain or to none, and then the kernel refuses it: no
 * socket listens on a reachable address, since the proxy listens on loopback addresses.
 */
const refusedRules = ({ returnPath }: DomainEntry): readonly string[] => [
  'iifname != "lo" socket transparent 1 accept',
  'icmp type echo-request accept',
  'icmpv6 type echo-request accept',
  // Forwarded packet by packet: a node that does not know a service yet, or no longer, must not reset flows of other
  // nodes.
  ...(returnPath === 'dsr' ? ['tcp flags & (syn | ack) != syn drop'] : []),
  'meta l4proto tcp reject with tcp reset',
  'meta l4proto udp reject with icmpx port-unreachable',
]
