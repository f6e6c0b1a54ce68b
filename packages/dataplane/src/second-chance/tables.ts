import type { DomainConfig } from '../domain/domain-config.ts'
import { type DomainNames, SEGMENT, UPLINK } from '../domain/domain-names.ts'
import { chain, type WholeTable, wholeTable } from '../nft/whole-table.ts'

/** A VIP and the port of a service of the proxy. */
export interface FrontEnd {
  readonly address: string
  readonly port: number
}

/** Front ends by where their clients come from: by way of the root namespace, or on the network's own segment. */
export interface FrontEnds {
  readonly fabric: readonly FrontEnd[]
  readonly tenant: readonly FrontEnd[]
}

/** What is there for the newest drained node, and for the one drained before this node. */
export interface Hops<T> {
  readonly first: T
  readonly next: T
}

/** The table in a domain, one for each family: statement `dup` is not to be had in family inet. */
export const DOMAIN_TABLE = 'spout-second-chance'

export const rootTableName = ({ instance }: Pick<DomainConfig, 'instance'>): string => `spout-${instance}-second-chance`

/**
 * How a packet says that it was sent on by a node, and which way it shall leave that node: code points for local use
 * (RFC 2474 section 6, pool 2). Nothing else of a packet outlives the way into another namespace, or to another node.
 */
const SENT_ON: Hops<number> = { first: 43, next: 47 }

/** Packets a second of one domain and family: what comes beyond is lost, as on a full link. */
const MOST_PER_SECOND = 50_000
const BURST = 5_000

/** Where packets leave a domain for each hop: the next hop on the interface that they came by; null for none. */
interface Way {
  readonly prefix: string
  readonly device: string
  readonly frontEnds: readonly FrontEnd[]
  readonly to: Hops<string | null>
}

/**
 * Renders the second-chance tables of a domain.
 *
 * They match TCP packets for a front end that do not open a connection and have no socket on this node. Such a packet is
 * forwarded unchanged: over the uplink, where the root's table sends it on, or over the segment to the next node. It is
 * marked for the first hop when a client sent it, and for the next hop when another node did. A packet without a hop
 * reaches the front end, which refuses it. The kernel removes the front ends after `seconds`, even if the agent is gone.
 * @param hops which hops there are
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

/** A domain's end in the root namespace, and the VIPs that packets from it may be for. */
export interface Uplink {
  readonly number: number
  readonly link: string
  readonly addresses: readonly string[]
}

/**
 * The table in the root namespace: what a domain marked leaves over the fabric for the hop's hardware address. By that,
 * not by routing: here the VIP is local, and a node is known by an address of one family alone.
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
