import type { DomainConfig } from '../domain/domain-config.ts'
import { type DomainNames, SEGMENT, UPLINK } from '../domain/domain-names.ts'
import { chain, type WholeTable, wholeTable } from '../nft/whole-table.ts'

/** The VIP and port of a proxied service. */
export interface FrontEnd {
  readonly address: string
  readonly port: number
}

/** Front ends by the side of their clients: the fabric, through the root namespace, or the network's own segment. */
export interface BySide {
  readonly fabric: readonly FrontEnd[]
  readonly tenant: readonly FrontEnd[]
}

export interface FrontEnds extends BySide {
  /** TCP services of the packet path whose members see a node, or `shared`. Absent: none. */
  readonly flows?: BySide
  /** Addresses that members see whichever node carries the network. Absent: none. */
  readonly shared?: readonly string[]
  /** Whether members answer TCP services of the packet path through their gateway, a node. Absent: they do not. */
  readonly byGateway?: boolean
}

/** Values for the newest drained node, and for the one that was drained before this node. */
export interface Hops<T> {
  readonly first: T
  readonly next: T
}

/** The table in a domain, one for each family, since family inet has no statement `dup`. */
export const DOMAIN_TABLE = 'spout-second-chance'

export const rootTableName = ({ instance }: Pick<DomainConfig, 'instance'>): string => `spout-${instance}-second-chance`

/**
 * DSCP marks of a forwarded packet, which name the hop: code points for local use (RFC 2474 section 6, pool 2). No
 * other mark survives the way into another namespace or to another node.
 */
const SENT_ON: Hops<number> = { first: 43, next: 47 }

/** Packets per second of one domain and family. The rest is dropped, as on a congested link. */
const MOST_PER_SECOND = 50_000
const BURST = 5_000

/**
 * Where packets leave a domain, for each hop: the next hop's address on the interface that they arrived at; null for
 * none.
 */
interface Way {
  readonly prefix: string
  readonly device: string
  /** Of the proxy. */
  readonly frontEnds: readonly FrontEnd[]
  /** Of the packet path. */
  readonly flows: readonly FrontEnd[]
  /** Addresses to which members answer. */
  readonly shared: readonly string[]
  readonly byGateway: boolean
  readonly to: Hops<string | null>
}

/**
 * Renders the second-chance tables of a domain.
 *
 * They match TCP packets for a front end that are no SYN and that this node knows no connection of: no socket if the proxy
 * serves it, no tracked flow if the packet path does. So do members' packets to a shared address that belong to no flow of
 * this node, and with return path `gateway` the answers to handshakes that began elsewhere. Such a packet is forwarded
 * unchanged: over the uplink, where the root's table forwards it, or over the segment to the next node. It is marked
 * for the first hop when a client sent it, and for the next hop when another node did. A packet without a hop is handled
 * here, where the proxy redirect or the guard refuses it. The kernel removes the front ends after `seconds`, even if the
 * agent is gone.
 * @param hops which hops exist
 * @param inside addresses of the hops on the segment
 * @param seconds null: the front ends stay
 */
export function domainTables(
  names: DomainNames,
  { fabric, tenant, flows = NO_FLOWS, shared = [], byGateway = false }: FrontEnds,
  hops: Hops<boolean>,
  inside: Hops<readonly string[]>,
  seconds: number | null,
): readonly WholeTable[] {
  return ([4, 6] as const).flatMap((version) => {
    const ofVersion = (address: string): boolean => isIpv4(address) === (version === 4)
    const own = (frontEnds: readonly FrontEnd[]) => frontEnds.filter(({ address }) => ofVersion(address))
    const root = version === 4 ? names.root.ipv4 : names.root.ipv6
    const eachHop = (to: (hop: keyof typeof hops) => string | undefined): Hops<string | null> => ({
      first: (hops.first && to('first')) || null,
      next: (hops.next && to('next')) || null,
    })
    const ways: readonly Way[] = [
      {
        prefix: '',
        device: UPLINK,
        frontEnds: own(fabric),
        flows: own(flows.fabric),
        shared: [],
        byGateway: false,
        to: eachHop(() => root),
      },
      {
        prefix: 'inner-',
        device: SEGMENT,
        frontEnds: own(tenant),
        flows: own(flows.tenant),
        shared: shared.filter(ofVersion),
        byGateway,
        to: eachHop((hop) => inside[hop].find(ofVersion)),
      },
    ]
    const open = ways.filter((way) => matches(way) && (way.to.first ?? way.to.next) !== null)
    if (open.length === 0) return []
    const ip = version === 4 ? 'ip' : 'ip6'
    return wholeTable(ip, DOMAIN_TABLE, [
      ...open.flatMap((way) => setsOf(way, version, seconds)),
      ...arriving(open, ip),
      ...arrivingTracked(open, ip),
      ...open.flatMap((way) => sendingChains(way, ip)),
    ])
  })
}

/** Conntrack calls it invalid where the SYN did not pass. */
const HANDSHAKE_ANSWER = 'tcp flags & (syn | ack) == syn | ack'

const NO_FLOWS: BySide = { fabric: [], tenant: [] }

const matches = ({ frontEnds, flows, shared, byGateway }: Way): boolean =>
  byGateway || frontEnds.length + flows.length + shared.length > 0

function setsOf({ prefix, frontEnds, flows, shared }: Way, version: 4 | 6, seconds: number | null): readonly string[] {
  const address = `ipv${version}_addr`
  const places = (some: readonly FrontEnd[]) => some.map((each) => `${each.address} . ${each.port}`)
  return [
    ...frontEndSet(`${prefix}doors`, `${address} . inet_service`, places(frontEnds), seconds),
    ...frontEndSet(`${prefix}flows`, `${address} . inet_service`, places(flows), seconds),
    ...frontEndSet(`${prefix}shared`, address, shared, seconds),
  ]
}

/** A set whose elements the kernel removes after `seconds`; nothing without elements. */
const frontEndSet = (
  name: string,
  type: string,
  elements: readonly string[],
  seconds: number | null,
): readonly string[] =>
  elements.length === 0
    ? []
    : [
        `  set ${name} {`,
        `    type ${type}`,
        ...(seconds === null ? [] : [`    timeout ${seconds}s`]),
        `    elements = { ${[...new Set(elements)].sort().join(', ')} }`,
        '  }',
      ]

/** Before connection tracking: a socket is looked up without it. */
const arriving = (ways: readonly Way[], ip: 'ip' | 'ip6'): readonly string[] => {
  const rules = ways.flatMap(({ prefix, device, frontEnds }) => {
    const frontEnd = `iifname "${device}" ${ip} daddr . tcp dport @${prefix}doors`
    return frontEnds.length === 0 ? [] : [`${frontEnd} tcp flags & syn == 0 goto ${prefix}unknown`]
  })
  return rules.length === 0
    ? []
    : chain('arriving', 'type filter hook prerouting priority raw - 10; policy accept;', rules)
}

/** After connection tracking. A domain whose flows are not tracked has no such rule: it would have the kernel track them. */
const arrivingTracked = (ways: readonly Way[], ip: 'ip' | 'ip6'): readonly string[] => {
  const rules = ways.flatMap(({ prefix, device, flows, shared, byGateway }) => {
    const from = `iifname "${device}" ct state { invalid, new } ${ip} daddr`
    return [
      ...(flows.length === 0
        ? []
        : [`${from} . tcp dport @${prefix}flows tcp flags & (syn | ack) != syn goto ${prefix}away`]),
      ...(shared.length === 0 ? [] : [`${from} @${prefix}shared meta l4proto { tcp, udp } goto ${prefix}away`]),
      ...(byGateway ? [`iifname "${device}" ct state invalid ${HANDSHAKE_ANSWER} goto ${prefix}away`] : []),
    ]
  })
  return rules.length === 0
    ? []
    : chain('arriving-tracked', 'type filter hook prerouting priority mangle; policy accept;', rules)
}

function sendingChains({ prefix, device, frontEnds, to }: Way, ip: 'ip' | 'ip6'): readonly string[] {
  const send = (hop: 'first' | 'next') =>
    to[hop] === null ? [] : [`${ip} dscp set ${SENT_ON[hop]} counter dup to ${to[hop]} device "${device}" drop`]
  return [
    ...(frontEnds.length === 0
      ? []
      : chain(`${prefix}unknown`, null, ['socket transparent 1 accept', `goto ${prefix}away`])),
    ...chain(`${prefix}away`, null, [
      `limit rate over ${MOST_PER_SECOND}/second burst ${BURST} packets counter drop`,
      `${ip} dscp { ${SENT_ON.first}, ${SENT_ON.next} } goto ${prefix}sent-on`,
      ...send('first'),
    ]),
    ...chain(`${prefix}sent-on`, null, send('next')),
  ]
}

/** A domain's interface in the root namespace, and its VIPs. */
export interface Uplink {
  readonly number: number
  readonly link: string
  readonly addresses: readonly string[]
}

/**
 * Renders the table in the root namespace. It sends packets that a domain marked over the fabric to the hop's hardware
 * address. Routing would not work, since the VIP is local here, and a node is known by an address of one family.
 * @param own hardware address of the fabric interface
 */
export function rootTable(
  config: Pick<DomainConfig, 'instance' | 'fabricInterface'>,
  uplinks: readonly Uplink[],
  macs: Hops<string | null>,
  own: string,
): WholeTable {
  const rules = (addresses: readonly string[], ip: 'ip' | 'ip6') =>
    (['first', 'next'] as const).flatMap((hop) => {
      const mac = macs[hop]
      if (mac === null || addresses.length === 0) return []
      const marked = `${ip} dscp ${SENT_ON[hop]} meta l4proto tcp ${ip} daddr { ${addresses.join(', ')} }`
      return [`${marked} ether saddr set ${own} ether daddr set ${mac} fwd to "${config.fabricInterface}"`]
    })
  const chains = uplinks.flatMap(({ number, link, addresses }) => {
    const sorted = [...new Set(addresses)].sort()
    const hook = `type filter hook ingress device "${link}" priority filter; policy accept;`
    return chain(`d${number}`, hook, [
      ...rules(sorted.filter(isIpv4), 'ip'),
      ...rules(
        sorted.filter((address) => !isIpv4(address)),
        'ip6',
      ),
    ])
  })
  return wholeTable('netdev', rootTableName(config), chains)
}

const isIpv4 = (address: string): boolean => !address.includes(':')
