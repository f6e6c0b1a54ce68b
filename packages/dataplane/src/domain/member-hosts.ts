import type { DomainEntry } from '@spout/model/node-state'
import { formatIp, formatMac, type Mac, parseCidr, parseIp } from '@spout/net'
import { chain, type WholeTable, wholeTable } from '../nft/whole-table.ts'
import type { DomainConfig } from './domain-config.ts'
import { HOSTS_PORT, hostLinkPrefix } from './domain-names.ts'

/**
 * What a domain of return path `node` has beside the others: a tunnel to the other nodes that host members, and a way
 * back for the answers of its own. Pure data.
 *
 *     client ── root ── domain ══ tunnel ══ domain ── root ── member
 *               the node that has the VIP   the member's node
 *
 * The member's node translates the packet to the member alone, so the member answers the client's own address. Root
 * knows such a connection by where it began, and sends its answers into the domain, which gives them the VIP as source.
 */
export interface MemberHostsLayout {
  readonly vni: number
  /** The mark of connections and their answers in root, and the number of the routing table that takes answers. */
  readonly mark: number
  /** This node's end of the tunnel. Null while its address is unknown: no tunnel. */
  readonly end: { readonly address: string; readonly mac: string } | null
  readonly neighbours: readonly HostNeighbour[]
  /** Numbers of the other nodes, if connections may go on at one that their slot led to before. */
  readonly formers: readonly number[]
  /** The domain's addresses on the cable, which root sends answers to: one of each family at most. */
  readonly returns: readonly { readonly to: string; readonly via: string }[]
  /** Root's end of the cable. */
  readonly hostLink: string
  /** Of the root namespace. */
  readonly table: WholeTable<'inet'>
}

/** Another node, as the tunnel's neighbour tables have it: once for each of its hardware addresses. */
export interface HostNeighbour {
  /** On the fabric. */
  readonly address: string
  readonly mac: string
  /** What `fwd` looks up, by family. Nothing else uses these addresses. */
  readonly hops: readonly string[]
}

/** The bits that say that a mark is of return path `node`. The others are the domain's number. */
export const HOSTED_MARK = { tag: 0x5300_0000, mask: 0xff00_0000 } as const

/** The table of root for one domain. */
export const hostsTableName = ({ instance }: Pick<DomainConfig, 'instance'>, number: number): string =>
  `spout-${instance}-n${number}`

export const hostedMark = (number: number): number => HOSTED_MARK.tag + number

/** The address by which `fwd` finds a node in the tunnel: reserved, so no packet has it. */
export const hopOf = (host: number, version: 4 | 6): string =>
  version === 4
    ? formatIp({ version, value: BigInt(HOP_BASE4 + host) })
    : formatIp({ version, value: HOP_BASE6 | BigInt(HOP_BASE4 + host) })

/** The same for a packet that was led on once, which that node is to keep. Numbers are multiples of 16. */
export const onceLedHopOf = (host: number, version: 4 | 6): string => hopOf(host + ONCE_LED, version)

/** The last byte of the hardware address that a frame was sent to says so. */
export const ONCE_LED = 1

const HOP_BASE4 = 0xf000_0000
/** Beside the uplinks' prefix. */
const HOP_BASE6 = 0xfd73_706f_7576n << 80n
/** In which all of them are. */
export const HOP_PREFIXES = ['240.0.0.0/4', 'fd73:706f:7576::/48'] as const

/** Locally administered, with the node's hop. */
const macOf = (host: number): string => formatMac(((0x0254n << 32n) | BigInt(HOP_BASE4 + host)) as Mac)

/** Null with the other return paths. */
export function layOutHosts(config: DomainConfig, domain: DomainEntry): MemberHostsLayout | null {
  const { hosts, number } = domain
  if (domain.returnPath !== 'node' || hosts === undefined) return null
  return {
    vni: hosts.vni,
    mark: hostedMark(number),
    end: hosts.address === null ? null : { address: hosts.address, mac: macOf(hosts.own) },
    neighbours: hosts.peers.flatMap(({ address, number }) =>
      [number, number + ONCE_LED].map((end) => ({ address, mac: macOf(end), hops: [hopOf(end, 4), hopOf(end, 6)] })),
    ),
    // Where nothing is tracked, nothing is balanced, and a rule that asks would have the kernel track all.
    formers: domain.untracked === true || hosts.address === null ? [] : hosts.peers.map(({ number }) => number),
    returns: returnsOf(domain),
    hostLink: `${hostLinkPrefix(config)}${number}`,
    table: renderHostsTable(config, domain, hosts),
  }
}

function returnsOf({ subnets }: DomainEntry): MemberHostsLayout['returns'] {
  return ([4, 6] as const).flatMap((version) => {
    const own = subnets.find(({ cidr }) => parseCidr(cidr).version === version)
    return own === undefined ? [] : [{ to: version === 4 ? '0.0.0.0/0' : '::/0', via: own.nodeAddress }]
  })
}

/**
 * Renders the domain's table of the root namespace. Answers that leave the domain are not tracked, as the root guard
 * says. Marks are set last before routing, as others clear bits that they think theirs.
 */
function renderHostsTable(
  config: DomainConfig,
  domain: DomainEntry,
  { vni, address, peers }: NonNullable<DomainEntry['hosts']>,
): WholeTable<'inet'> {
  const cable = `"${hostLinkPrefix(config)}${domain.number}"`
  const mark = `0x${hostedMark(domain.number).toString(16)}`
  const family = address !== null && parseIp(address).version === 6 ? 'ip6' : 'ip'
  const ours = `udp dport ${HOSTS_PORT} @th,96,24 ${vni}`
  const from = peers.length === 0 ? '' : ` ${family} saddr != { ${peers.map((peer) => peer.address).join(', ')} }`
  const begun = domain.subnets.map(({ cidr }) => {
    const ip = parseCidr(cidr).version === 4 ? 'ip' : 'ip6'
    // The proxy and the probes have the domain's own address as source, and see the node's as always.
    return `iifname ${cable} ${ip} saddr != ${cidr} meta l4proto { tcp, udp, sctp } ct state new ct mark set ${mark}`
  })
  return wholeTable('inet', hostsTableName(config, domain.number), [
    ...chain('arriving', 'type filter hook prerouting priority raw; policy accept;', [`${ours}${from} drop`]),
    ...chain('marking', 'type filter hook prerouting priority mangle + 5; policy accept;', [
      ...begun,
      `iifname != ${cable} ct direction reply ct mark ${mark} meta mark set ${mark}`,
    ]),
  ])
}
