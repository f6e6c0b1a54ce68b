import { HOSTS, UPLINK } from '../../domain/domain-names.ts'
import { ONCE_LED } from '../../domain/member-hosts.ts'
import { chain, type WholeTable, wholeTable } from '../../nft/whole-table.ts'
import { FORGET_NETWORK, networkChain, networkChainName } from './client-networks.ts'
import { CLASS_MASK, HASH_CLASSES, HASH_SEED, NETWORK_MASK, POOL_MASK } from './pool-mark.ts'
import { INNER_SERVICE, SPREADING_SETS } from './sets.ts'
import { declareSets, hex, SPREAD_TABLE, serviceKey, slotOf } from './skeleton-text.ts'

/**
 * How many flows a domain remembers, of each address family. When it is full, the slots alone decide for further flows:
 * a flood costs the node no more than this, and no flow anything before members change.
 */
const MOST_REMEMBERED_FLOWS = 262_144
/** A flow that is silent for longer follows the slots again. */
const REMEMBERED_SECONDS = 900
/** How many connections are remembered whose second packet has not come. Each entry is of the last few seconds. */
const MOST_BEGUN_CONNECTIONS = 65_536
/** Clients repeat an unanswered first packet after a second (RFC 6298, section 2.1), and follow the slots again. */
const BEGUN_SECONDS = 3

/**
 * Renders the table of return path `node`, without elements. It sends a packet for a member of another node to that
 * node, unchanged, at the uplink's ingress before connection tracking. Packets for members of this node, for proxied
 * services and for none continue as if the table did not exist.
 *
 * The slot of a packet says which node it goes to, the same on every node. What a flow had before the slots changed is
 * remembered here. A TCP connection stays with its node while that exists: only that node knows whether the connection
 * goes on. Other flows have no end that anybody sees, so they stay while the node has a member of the pool.
 *
 * Nodes learn of a change one after the other. So a packet may come out of the tunnel for a pool whose last member of this
 * node is gone: this node leads it on to the slot's node, as it would if it had the address.
 *
 * A node that has got the address remembers nothing of earlier connections, and their slots may lead to this node since
 * then. Only conntrack, which comes later, knows them from its own. So a packet that is no first one leaves this table with
 * the number of its slot's former node, or of its node if that is another one, and `former-tables.ts` decides. What another
 * node led on so is never led on again.
 *
 * The number of a node is in the packet's priority.
 * @param links indexes of the interfaces that the rules name
 */
export const renderSpreadingSkeleton = (links: string): WholeTable =>
  wholeTable(
    'netdev',
    SPREAD_TABLE,
    [
      ...declareSets(SPREADING_SETS),
      ...declareFlows(4),
      ...declareFlows(6),
      ...networkChain(4),
      ...networkChain(6),
      ...networkChain(4, INNER_CLIENT.address),
      ...chain('done', null, ['meta mark set 0', FORGET_NETWORK, 'accept']),
      ...familyChains(4),
      ...familyChains(6),
      ...errorChains(),
      ...chain('entering', `type filter hook ingress devices = { ${UPLINK} } priority 0; policy accept;`, [
        'meta mark set 0',
        'meta pkttype != host accept',
        // Only a first fragment has ports, so none is sent on: this node puts them together for its own members.
        'ip frag-off & 0x3fff != 0 accept',
        'exthdr frag exists accept',
        'meta protocol ip icmp type { destination-unreachable, time-exceeded, parameter-problem } goto error4',
        'meta protocol ip goto service-of4',
        'meta protocol ip6 goto service-of6',
      ]),
      ...chain('arriving', `type filter hook ingress devices = { ${HOSTS} } priority 0; policy accept;`, [
        'meta mark set 0',
        // The hardware address is not this interface's, so the kernel takes it for another host's.
        `meta pkttype other @ll,40,8 & 0x0f == ${ONCE_LED} meta pkttype set host accept`,
        'meta pkttype != host accept',
        'meta protocol ip goto arriving4',
        'meta protocol ip6 goto arriving6',
      ]),
    ],
    links,
  )

/**
 * Declares what flows are remembered in: flow -> number of a node. Filled and emptied by packets alone. `begun` are
 * connections of clients with their first packet alone, `flows` those with more. `led` are connections that came out of
 * the tunnel: two nodes may remember each other for one connection, as long as each looks only at its own direction.
 */
const declareFlows = (version: 4 | 6): readonly string[] =>
  Object.entries({
    flows: MOST_REMEMBERED_FLOWS,
    begun: MOST_BEGUN_CONNECTIONS,
    led: MOST_BEGUN_CONNECTIONS,
  } satisfies Record<FlowMap, number>).flatMap(([name, most]) => [
    `  map ${name}${version} {`,
    `    typeof ${FLOW_TYPE[version]} : meta priority`,
    `    size ${most}`,
    '    flags dynamic,timeout',
    '  }',
  ])
type FlowMap = 'flows' | 'begun' | 'led'

const hashed = (fields: string): string => `jhash ${fields} mod ${hex(0xffff_ffff)} seed ${hex(HASH_SEED)}`

/**
 * Addresses, and a hash of the ports. nft 1.0.6 needs keys of up to 16 bytes, so IPv6 addresses are hashed, too. Two
 * flows with the same key would share a node.
 */
const FLOW = {
  4: `@nh,96,32 . @nh,128,32 . ${hashed('th sport . th dport')}`,
  6: [hashed('ip6 saddr'), hashed('ip6 daddr'), hashed('th sport . th dport')].join(' . '),
} as const
const FLOW_TYPE = {
  4: '@nh,96,32 . @nh,128,32 . numgen inc mod 2',
  6: 'numgen inc mod 2 . numgen inc mod 2 . numgen inc mod 2',
} as const

/** The number of a node stays in the packet's priority, for the case that conntrack does not know the connection. */
const ASK_CONNTRACK = 'meta mark set 0 accept'

const IS_FIRST = 'tcp flags & (syn | ack) == syn'
const IS_NOT_FIRST = 'tcp flags & (syn | ack) != syn'

/**
 * A lookup without a result ends its rule. The rule that writes ends, too, if the map is full, and the packet goes on.
 * A connection's first packet is remembered apart, and not for long: a flood of them fills no map but its own.
 */
function familyChains(version: 4 | 6): readonly string[] {
  const key = FLOW[version]
  const remember = (map: FlowMap, seconds = REMEMBERED_SECONDS): string =>
    `update @${map}${version} { ${key} timeout ${seconds}s : meta priority }`
  const forget = (map: FlowMap): string => `delete @${map}${version} { ${key} : meta priority }`
  const bySlot = `goto by-slot${version}`
  const send = sendOn(version)
  const serviceOf = [
    `meta mark set ${serviceKey(version)} map @service${version}`,
    'meta mark 0 accept',
    `meta mark set meta mark & ${hex(POOL_MASK)}`,
    FORGET_NETWORK,
  ]
  const byNetwork = `meta mark & ${hex(NETWORK_MASK)} != 0 jump ${networkChainName(version)}`
  const nodeOfSlot = (map: 'spread' | 'former'): readonly string[] => [
    FORGET_NETWORK,
    byNetwork,
    ...slotRules(version, { map }),
  ]
  return [
    // For members of this node, from a client.
    ...chain(`own${version}`, null, [
      'meta l4proto != tcp goto done',
      `${IS_FIRST} goto done`,
      `meta mark != @moved${version} goto done`,
      ...nodeOfSlot('former'),
      ASK_CONNTRACK,
    ]),
    // From another node. Where a pool has no former node for the slot, this node may know of a change later than others.
    // Where no number is found, the hash of a network may stay, for which there is no node.
    ...chain(`strayed${version}`, null, [
      `meta mark != @moved${version} goto of-others${version}`,
      ...nodeOfSlot('former'),
      `meta priority != 0:0 ${ASK_CONNTRACK}`,
      `goto of-others${version}`,
    ]),
    ...chain(`of-others${version}`, null, [...nodeOfSlot('spread'), 'meta priority @here goto done', ASK_CONNTRACK]),
    ...chain(`by-slot${version}`, null, [
      byNetwork,
      ...slotRules(version),
      // The port may have been used for an earlier connection.
      `${IS_FIRST} ${forget('flows')}`,
      `${IS_FIRST} ${forget('begun')}`,
      `${IS_FIRST} ${remember('begun', BEGUN_SECONDS)}`,
      `${IS_FIRST} goto send${version}`,
      remember('flows'),
      `goto send${version}`,
    ]),
    ...chain(`send${version}`, null, [...send, 'goto done']),
    ...chain(`remembered${version}`, null, [remember('flows'), ...send, forget('flows'), bySlot]),
    ...chain(`left${version}`, null, [forget('flows'), bySlot]),
    ...chain(`service-of${version}`, null, [
      ...serviceOf,
      `${IS_FIRST} ${bySlot}`,
      `meta priority set ${key} map @flows${version}`,
      `meta priority 0:0 meta l4proto tcp meta priority set ${key} map @begun${version}`,
      `meta priority 0:0 ${bySlot}`,
      `meta l4proto != tcp meta mark . meta priority != @serves${version} goto left${version}`,
      `goto remembered${version}`,
    ]),
    // A connection that is led on is remembered from its first packet: nothing else tells its next ones from those of a
    // connection that this node tracks. Only packets of the moment between two nodes' changes come here.
    ...chain(`lead-on${version}`, null, [
      byNetwork,
      ...slotRules(version),
      `meta l4proto tcp ${remember('flows')}`,
      `meta l4proto tcp ${remember('led')}`,
      `goto send${version}`,
    ]),
    ...chain(`led-on${version}`, null, [remember('led'), ...send, forget('led'), 'goto done']),
    ...chain(`arriving${version}`, null, [
      ...serviceOf,
      `${IS_NOT_FIRST} meta priority set ${key} map @led${version}`,
      `${IS_NOT_FIRST} meta priority 0:0 goto strayed${version}`,
      `${IS_NOT_FIRST} goto led-on${version}`,
      `${IS_FIRST} ${forget('led')}`,
      `${IS_FIRST} ${forget('flows')}`,
      `meta mark @hosted${version} goto done`,
      `goto lead-on${version}`,
    ]),
  ]
}

/** Sets the priority to the number that a map has for the packet's slot. */
const slotRules = (
  version: 4 | 6,
  { map = 'spread', client }: { readonly map?: 'spread' | 'former'; readonly client?: typeof INNER_CLIENT } = {},
): readonly string[] =>
  HASH_CLASSES.map((each) => {
    const slot = `meta mark . ${slotOf(version, each, client)}`
    return `meta mark & ${hex(CLASS_MASK)} == ${hex(each.bits)} meta priority set ${slot} map @${map}${version}`
  })

/** Ends for a packet whose node is this one or another one that is known. */
const sendOn = (version: 4 | 6): readonly string[] => [
  `meta priority @here goto own${version}`,
  `fwd ${version === 4 ? 'ip' : 'ip6'} to meta priority map @hop${version} device "${HOSTS}"`,
]

/** The client in the packet that an ICMP error quotes. Offsets and lengths in bits. */
const INNER_CLIENT = { address: '@th,192,32', port: '@th,240,16' } as const
/** The quoted packet goes the other way: its fields are in the order of `FLOW` for the client's. */
const INNER_FLOW = `@th,192,32 . @th,160,32 . ${hashed('@th,240,16 . @th,224,16')}`

/** Errors of routers about a member's answers go to the node that has the flow, which path MTU discovery needs. */
const errorChains = (): readonly string[] => [
  ...chain('error-by-slot4', null, [
    `meta mark & ${hex(NETWORK_MASK)} != 0 jump ${networkChainName(4, true)}`,
    ...slotRules(4, { client: INNER_CLIENT }),
    'goto send4',
  ]),
  ...chain('error4', null, [
    '@th,64,8 != 0x45 accept',
    `meta mark set ${INNER_SERVICE} map @inner4`,
    'meta mark 0 accept',
    `meta mark set meta mark & ${hex(POOL_MASK)}`,
    FORGET_NETWORK,
    `meta priority set ${INNER_FLOW} map @flows4`,
    'meta priority 0:0 goto error-by-slot4',
    'goto send4',
  ]),
]
