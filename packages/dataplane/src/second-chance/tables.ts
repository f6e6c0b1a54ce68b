import type { DomainConfig } from '../domain/domain-config.ts'
import { type DomainNames, SEGMENT, UPLINK } from '../domain/domain-names.ts'
import { chain, type WholeTable, wholeTable } from '../nft/whole-table.ts'

/** The VIP and port of a proxied service. */
export interface FrontEnd {
  readonly address: string
  readonly port: number
}

/** Front ends by the side of their clients: the fabric, through the root namespace, or the network's own segment. */
export interface FrontEnds {
  readonly fabric: readonly FrontEnd[]
  readonly tenant: readonly FrontEnd[]
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
  readonly frontEnds: readonly FrontEnd[]
  readonly to: Hops<string | null>
}

/**
 * Renders the second-chance tables of a domain.
 *
 * They match TCP packets for a front end that are no SYN and have no socket on this node. Such a packet is forwarded
 * unchanged: over the uplink, where the root's table forwards it, or over the segment to the next node. It is marked
 * for the first hop when a client sent it, and for the next hop when another node did. A packet without a hop goes to
 * the proxy redirect, which refuses it. The kernel removes the front ends after `seconds`, even if the agent is gone.
 * @param hops which hops exist
 * @param inside addresses of the hops on the segment
 */
export function domainTables(
  names: DomainNames,
  frontEnds: FrontEnds,
  hops: Hops<boolean>,
  inside: Hops<readonly string[]>,
  seconds: number,
): readonly WholeTable[] {
  return ([4, 6] as const).flatMap((version) => {
    const ofVersion = (address: string): boolean => isIpv4(address) === (version === 4)
    const root = version === 4 ? names.root.ipv4 : names.root.ipv6
    const eachHop = (to: (hop: keyof typeof hops) => string | undefined): Hops<string | null> => ({
      first: (hops.first && to('first')) || null,
      next: (hops.next && to('next')) || null,
    })
    const ways: readonly Way[] = [
      { prefix: '', device: UPLINK, frontEnds: frontEnds.fabric, to: eachHop(() => root) },
      {
        prefix: 'inner-',
        device: SEGMENT,
        frontEnds: frontEnds.tenant,
        to: eachHop((hop) => inside[hop].find(ofVersion)),
      },
    ]
    const open = ways
      .map((way) => ({ ...way, frontEnds: way.frontEnds.filter(({ address }) => ofVersion(address)) }))
      .filter((way) => way.frontEnds.length > 0 && (way.to.first ?? way.to.next) !== null)
    if (open.length === 0) return []
    const ip = version === 4 ? 'ip' : 'ip6'
    return wholeTable(ip, DOMAIN_TABLE, [
      ...open.flatMap((way) => frontEndSet(way, version, seconds)),
      ...chain(
        'arriving',
        'type filter hook prerouting priority raw - 10; policy accept;',
        open.map(({ prefix, device }) => {
          const frontEnd = `iifname "${device}" ${ip} daddr . tcp dport @${prefix}doors`
          return `${frontEnd} tcp flags & syn == 0 goto ${prefix}unknown`
        }),
      ),
      ...open.flatMap((way) => sendingChains(way, ip)),
    ])
  })
}

function frontEndSet({ prefix, frontEnds }: Way, version: 4 | 6, seconds: number): readonly string[] {
  const elements = [...new Set(frontEnds.map(({ address, port }) => `${address} . ${port}`))].sort()
  return [
    `  set ${prefix}doors {`,
    `    type ipv${version}_addr . inet_service`,
    `    timeout ${seconds}s`,
    `    elements = { ${elements.join(', ')} }`,
    '  }',
  ]
}

function sendingChains({ prefix, device, to }: Way, ip: 'ip' | 'ip6'): readonly string[] {
  const send = (hop: 'first' | 'next') =>
    to[hop] === null ? [] : [`${ip} dscp set ${SENT_ON[hop]} counter dup to ${to[hop]} device "${device}" drop`]
  return [
    ...chain(`${prefix}unknown`, null, [
      'socket transparent 1 accept',
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
