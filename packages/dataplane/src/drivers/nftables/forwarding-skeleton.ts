import { SEGMENT, TUNNELS, UPLINK } from '../../domain/domain-names.ts'
import { chain, type WholeTable, wholeTable } from '../../nft/whole-table.ts'
import { networkChain, networkChainName } from './client-networks.ts'
import { CLASS_MASK, HASH_CLASSES, NETWORK_MASK, POOL_MASK, SERVICE_FLAGS } from './pool-mark.ts'
import { FORWARDING_SETS, INNER_SERVICE, type SetName, TUNNELLING_SETS } from './sets.ts'
import { declareSets, hex, SPOUT_TABLE, serviceKey, slotOf, TUNNEL_TABLE } from './skeleton-text.ts'

/**
 * Renders the table of return path `dsr`, without elements. It forwards a packet for a service to the member unchanged
 * except for TTL and hardware address, at ingress before connection tracking, and keeps no state. Other packets
 * continue as if the table did not exist: a VIP is local to the domain, so the guard refuses them.
 * @param links indexes of uplink and segment. Rules contain the indexes and chains are attached to the interfaces, so a
 * new interface needs a new table.
 */
export const renderForwardingSkeleton = (links: string): WholeTable =>
  wholeTable('netdev', SPOUT_TABLE, body(FORWARDING_SETS, false), links)

/** The same for networks with members behind routers. @param links includes both tunnels */
export const renderTunnellingSkeleton = (links: string): WholeTable =>
  wholeTable('netdev', TUNNEL_TABLE, body(TUNNELLING_SETS, true), links)

function body(sets: readonly SetName[], tunnels: boolean): readonly string[] {
  return [
    ...declareSets(sets),
    ...networkChain(4),
    ...networkChain(6),
    ...networkChain(4, INNER_CLIENT.address),
    ...chain('service-of4', null, serviceOf(4, tunnels)),
    ...chain('service-of6', null, serviceOf(6, tunnels)),
    ...chain('error4', null, errorRules(tunnels)),
    ...chain('entering', `type filter hook ingress devices = { ${UPLINK}, ${SEGMENT} } priority 0; policy accept;`, [
      'meta mark set 0',
      // Packets for another host are left alone.
      'meta pkttype != host accept',
      `meta protocol ip icmp type { destination-unreachable, time-exceeded, parameter-problem } goto error4`,
      'meta protocol ip goto service-of4',
      'meta protocol ip6 goto service-of6',
    ]),
  ]
}

/**
 * A lookup without a result ends its rule. The mark stays 0 without a service, and a slot without a member forwards
 * nothing.
 */
function serviceOf(version: 4 | 6, tunnels: boolean): readonly string[] {
  const service = serviceKey(version)
  const ip = version === 4 ? 'ip' : 'ip6'
  return [
    `meta mark set ${service} map @service${version}`,
    'meta mark 0 accept',
    `meta mark & ${hex(SERVICE_FLAGS.restricted)} != 0 ${service} . ${ip} saddr != @allowed${version} drop`,
    `${service} @received${version}`,
    // Only the first packet of a connection is counted, since there is no state.
    `tcp flags & (syn | ack) == syn ${service} @opened${version}`,
    ...forward(version, tunnels),
  ]
}

/** The client in the packet that an ICMP error quotes. Offsets and lengths in bits. */
const INNER_CLIENT = { address: '@th,192,32', port: '@th,240,16' } as const

/**
 * Routers send ICMP errors about packets of a member to the VIP. Path MTU discovery needs them (RFC 1191), so they are
 * forwarded to the member of the flow. The quoted packet, which has the client as its destination, identifies it.
 */
const errorRules = (tunnels: boolean): readonly string[] => [
  '@th,64,8 != 0x45 accept',
  `meta mark set ${INNER_SERVICE} map @inner4`,
  'meta mark 0 accept',
  ...forward(4, tunnels, INNER_CLIENT),
]

/** The member of a slot is in one of the maps, or in none. */
function forward(
  version: 4 | 6,
  tunnels: boolean,
  client?: { readonly address: string; readonly port: string },
): readonly string[] {
  const ip = version === 4 ? 'ip' : 'ip6'
  const ways = [[`nexthop${version}`, SEGMENT], ...(tunnels ? [[`remote${version}`, TUNNELS[version]]] : [])] as const
  return [
    `meta mark & ${hex(NETWORK_MASK)} != 0 jump ${networkChainName(version, client !== undefined)}`,
    `meta mark set meta mark & ${hex(POOL_MASK)}`,
    ...HASH_CLASSES.flatMap((each) =>
      ways.map(([map, device]) => {
        const to = `meta mark . ${slotOf(version, each, client)} map @${map}`
        return `meta mark & ${hex(CLASS_MASK)} == ${hex(each.bits)} fwd ${ip} to ${to} device "${device}"`
      }),
    ),
    'meta mark set 0',
  ]
}
