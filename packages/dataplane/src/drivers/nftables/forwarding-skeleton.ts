import { SEGMENT, TUNNELS, UPLINK } from '../../domain/domain-names.ts'
import { chain, type WholeTable, wholeTable } from '../../nft/whole-table.ts'
import { CLASS_MASK, HASH_CLASSES, POOL_MASK, SERVICE_FLAGS } from './pool-mark.ts'
import { FORWARDING_SETS, INNER_SERVICE, type SetName, TUNNELLING_SETS } from './sets.ts'
import { declareSets, hex, SPOUT_TABLE, serviceKey, slotOf, TUNNEL_TABLE } from './skeleton-text.ts'

/**
 * Return path `dsr`, without its elements: a packet for a service goes to the member as it came, but for its TTL and the
 * hardware address, and leaves no trace here. It is taken where it enters the domain, ahead of connection tracking. What
 * no rule takes goes on as if this table were not there: a VIP is local to the domain, so its guard refuses it.
 * @param links indexes of uplink and segment. nft writes the index into a rule, and the chain hangs on the interfaces: when
 * one is made anew, so must the table be
 */
export const renderForwardingSkeleton = (links: string): WholeTable =>
  wholeTable('netdev', SPOUT_TABLE, body(FORWARDING_SETS, false), links)

/** The same for networks with members behind routers. @param links of both tunnels too */
export const renderTunnellingSkeleton = (links: string): WholeTable =>
  wholeTable('netdev', TUNNEL_TABLE, body(TUNNELLING_SETS, true), links)

function body(sets: readonly SetName[], tunnels: boolean): readonly string[] {
  return [
    ...declareSets(sets),
    ...chain('service-of4', null, serviceOf(4, tunnels)),
    ...chain('service-of6', null, serviceOf(6, tunnels)),
    ...chain('error4', null, errorRules(tunnels)),
    ...chain('entering', `type filter hook ingress devices = { ${UPLINK}, ${SEGMENT} } priority 0; policy accept;`, [
      'meta mark set 0',
      // A packet that is for another host than this one is nobody's business here.
      'meta pkttype != host accept',
      `meta protocol ip icmp type { destination-unreachable, time-exceeded, parameter-problem } goto error4`,
      'meta protocol ip goto service-of4',
      'meta protocol ip6 goto service-of6',
    ]),
  ]
}

/** A lookup that misses ends its rule: the mark stays 0 without a service, and a slot without a member forwards nothing. */
function serviceOf(version: 4 | 6, tunnels: boolean): readonly string[] {
  const service = serviceKey(version)
  const ip = version === 4 ? 'ip' : 'ip6'
  return [
    `meta mark set ${service} map @service${version}`,
    'meta mark 0 accept',
    `meta mark & ${hex(SERVICE_FLAGS.restricted)} != 0 ${service} . ${ip} saddr != @allowed${version} drop`,
    `${service} @received${version}`,
    // The first packet of a connection is all that is known of it here.
    `tcp flags & (syn | ack) == syn ${service} @opened${version}`,
    ...forward(version, tunnels),
  ]
}

/**
 * Routers complain to the VIP of packets that a member sent as the VIP. Path MTU discovery needs these complaints (RFC
 * 1191), so they go to the member that has the flow: by the packet inside, which has the client as its destination.
 */
const errorRules = (tunnels: boolean): readonly string[] => [
  '@th,64,8 != 0x45 accept',
  `meta mark set ${INNER_SERVICE} map @inner4`,
  'meta mark 0 accept',
  ...forward(4, tunnels, { address: '@th,192,32', port: '@th,240,16' }),
]

/** A slot has its member in one of the maps, or in none. */
function forward(
  version: 4 | 6,
  tunnels: boolean,
  client?: { readonly address: string; readonly port: string },
): readonly string[] {
  const ip = version === 4 ? 'ip' : 'ip6'
  const ways = [[`nexthop${version}`, SEGMENT], ...(tunnels ? [[`remote${version}`, TUNNELS[version]]] : [])] as const
  return [
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
