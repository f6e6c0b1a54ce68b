/** A set or map of a table, and the layout of its elements in kernel registers, in bytes. */
export interface SetShape {
  /** The type in the table's text. */
  readonly type: string
  readonly kind: 'map' | 'set'
  readonly keyBytes: number
  readonly dataBytes: number
  /** Keys are ranges: a record holds the first key, then the last one. */
  readonly interval: boolean
  /** Each element has a `ct count over`. Its limit is at the end of the record. */
  readonly countOver: boolean
  /** Each element counts the packets that matched it. */
  readonly counter: boolean
  /** Holds the same records as this set (for a counter: the same keys), which are stored once. */
  readonly keysOf?: string
  /** A `typeof` expression where nft has no name for the type, as for a hash or raw payload. */
  readonly typeof?: string
}

const shape = (kind: SetShape['kind'], type: string, keyBytes: number, dataBytes = 0): SetShape => ({
  kind,
  type,
  keyBytes,
  dataBytes,
  interval: false,
  countOver: false,
  counter: false,
})

/** A port that is not in a concatenation is not padded. */
export const PORT_BYTES = 2

const family = <Version extends 4 | 6>(version: Version) => {
  const address = version === 4 ? 'ipv4_addr' : 'ipv6_addr'
  const bytes = version === 4 ? 4 : 16
  const endpoint = `${address} . inet_proto . inet_service`
  const endpointBytes = bytes + 8
  return {
    /** VIP . protocol . port -> pool mark and flags. */
    service: shape('map', `${endpoint} : mark`, endpointBytes, 4),
    /** Pool mark -> prefix length of the networks that its clients are told apart by. */
    network: shape('map', 'mark : classid', 4, 4),
    /** Pool mark . slot -> member. */
    member: shape('map', `mark . mark : ${address} . inet_service`, 8, bytes + 4),
    /**
     * Pool mark . slot -> `keptMember`, and pool mark . `keptMember` -> the same, of pools that remember their clients.
     * Their members are in `member` by `keptMember`.
     */
    dealt: shape('map', 'mark . mark : mark', 8, 4),
    /** Pool mark . slot -> the member that packets are forwarded to unchanged. */
    nexthop: {
      ...shape('map', `mark . mark : ${address}`, 8, bytes),
      typeof: `meta mark . numgen inc mod 2 : ${version === 4 ? 'ip' : 'ip6'} daddr`,
    },
    /** The same for members behind routers, which are reached through a tunnel. */
    remote: {
      ...shape('map', `mark . mark : ${address}`, 8, bytes),
      typeof: `meta mark . numgen inc mod 2 : ${version === 4 ? 'ip' : 'ip6'} daddr`,
    },
    /** Pool mark . slot -> the number of the node that hosts the slot's member. */
    spread: { ...shape('map', 'mark . mark : mark', 8, 4), typeof: 'meta mark . numgen inc mod 2 : meta priority' },
    /** Pool mark . number of each node that hosts members of the pool with slots. */
    serves: { ...shape('set', 'mark . mark', 8), typeof: 'meta mark . meta priority' },
    /** Pool mark of each pool with members on this node that have slots. */
    hosted: shape('set', 'mark', 4),
    /** Pool mark . slot -> the number of the node that the slot led to before it came to this one. */
    former: { ...shape('map', 'mark . mark : mark', 8, 4), typeof: 'meta mark . numgen inc mod 2 : meta priority' },
    /** Pool mark of each pool that has slots in `former`. */
    moved: shape('set', 'mark', 4),
    /** Number of another node -> its address in the tunnel. */
    hop: {
      ...shape('map', `mark : ${address}`, 4, bytes),
      typeof: `meta priority : ${version === 4 ? 'ip' : 'ip6'} daddr`,
    },
    /** Proxied VIP . protocol . port -> `REDIRECT_MARKS`. Looked up for every packet of a domain. */
    proxied: shape('map', `${endpoint} : mark`, endpointBytes, 4),
    /** VIP . protocol . port -> the proxy's port, for services without flags, whose flows are not tracked. */
    front: shape('map', `${endpoint} : inet_service`, endpointBytes, PORT_BYTES),
    /** The same for services flagged as limited or restricted, whose flows are tracked. */
    checked: shape('map', `${endpoint} : inet_service`, endpointBytes, PORT_BYTES),
    /** Member . protocol . port -> `answerMark`, for replies that arrive before their requests. */
    reverse: shape('map', `${endpoint} : mark`, endpointBytes, 4),
    /**
     * `answerMark` -> VIP, and -> its port. They are separate since an untracked packet is rewritten field by field.
     */
    answer: shape('map', `mark : ${address}`, 4, bytes),
    answerPort: shape('map', 'mark : inet_service', 4, PORT_BYTES),
    /** Admitted sources of the services flagged as restricted. */
    allowed: { ...shape('set', `${endpoint} . ${address}`, endpointBytes + bytes), interval: true },
    /** VIP . protocol . port -> the service's key in `limits`, for services flagged as limited. */
    limited: shape('map', `${endpoint} : mark`, endpointBytes, 4),
    /** New flows, received packets and sent packets, per VIP . protocol . port. */
    opened: { ...shape('set', endpoint, endpointBytes), counter: true },
    received: { ...shape('set', endpoint, endpointBytes), counter: true, keysOf: `opened${version}` },
    sent: { ...shape('set', endpoint, endpointBytes), counter: true, keysOf: `opened${version}` },
  } as const
}

const v4 = family(4)
const v6 = family(6)

/**
 * Source address, protocol and source port of the packet that an ICMP error quotes (RFC 792; an IPv4 header without
 * options). Offsets and lengths in bits.
 */
export const INNER_SERVICE = '@th,160,32 . @th,136,8 . @th,224,16'

/** All sets of the tables. A service with several VIPs has one mark and so one limit. */
export const SETS = {
  service4: v4.service,
  network4: v4.network,
  member4: v4.member,
  dealt4: v4.dealt,
  nexthop4: v4.nexthop,
  remote4: v4.remote,
  proxied4: v4.proxied,
  front4: v4.front,
  checked4: v4.checked,
  reverse4: v4.reverse,
  answer4: v4.answer,
  answerPort4: v4.answerPort,
  allowed4: v4.allowed,
  limited4: v4.limited,
  opened4: v4.opened,
  received4: v4.received,
  sent4: v4.sent,
  service6: v6.service,
  network6: v6.network,
  member6: v6.member,
  dealt6: v6.dealt,
  nexthop6: v6.nexthop,
  remote6: v6.remote,
  proxied6: v6.proxied,
  front6: v6.front,
  checked6: v6.checked,
  reverse6: v6.reverse,
  answer6: v6.answer,
  answerPort6: v6.answerPort,
  allowed6: v6.allowed,
  limited6: v6.limited,
  opened6: v6.opened,
  received6: v6.received,
  sent6: v6.sent,
  limits: { ...shape('set', 'mark', 4), countOver: true },
  /** The same as `service4`, looked up with the quoted packet of an ICMP error. */
  inner4: { ...v4.service, keysOf: 'service4', typeof: `${INNER_SERVICE} : meta mark` },
  spread4: v4.spread,
  serves4: v4.serves,
  hosted4: v4.hosted,
  hop4: v4.hop,
  spread6: v6.spread,
  serves6: v6.serves,
  hosted6: v6.hosted,
  hop6: v6.hop,
  /** This node's own number. */
  here: { ...shape('set', 'mark', 4), typeof: 'meta priority' },
  former4: v4.former,
  moved4: v4.moved,
  former6: v6.former,
  moved6: v6.moved,
} as const satisfies Record<string, SetShape>

export type SetName = keyof typeof SETS
export const SET_NAMES = Object.keys(SETS) as readonly SetName[]
/** Sets of the table that forwards packets unchanged. */
export const FORWARDING_SETS = [
  'service4',
  'network4',
  'nexthop4',
  'allowed4',
  'opened4',
  'received4',
  'inner4',
  'service6',
  'network6',
  'nexthop6',
  'allowed6',
  'opened6',
  'received6',
] as const satisfies readonly SetName[]
/** Sets of the table that also forwards through tunnels. */
export const TUNNELLING_SETS = [...FORWARDING_SETS, 'remote4', 'remote6'] as const satisfies readonly SetName[]
/**
 * What a node has seen itself, not what it is told: in no digest, so a restarted agent changes nothing. It does not know
 * their content, either, so they are emptied when it first adds to them.
 */
export const FORMER_SETS = ['former4', 'moved4', 'former6', 'moved6'] as const satisfies readonly SetName[]
/** Sets of the table that leads packets to the nodes of members. */
export const SPREADING_SETS = [
  ...(['service4', 'network4', 'inner4', 'spread4', 'serves4', 'hosted4', 'hop4'] as const),
  ...(['service6', 'network6', 'spread6', 'serves6', 'hosted6', 'hop6', 'here'] as const),
  ...FORMER_SETS,
] as const satisfies readonly SetName[]
/** Sets of the table that only redirects to the proxy. */
export const PROXYING_SETS = ['proxied4', 'front4', 'proxied6', 'front6'] as const satisfies readonly SetName[]
/** Sets of the table that translates. */
export const TRANSLATING_SETS = SET_NAMES.filter(
  (name) => !/^(nexthop|remote|inner|spread|serves|hosted|hop|here|former|moved)/.test(name),
)

/** Bytes of an element's identity: its key, or first and last key of a range. */
export const identityBytes = ({ keyBytes, interval }: SetShape): number => (interval ? 2 * keyBytes : keyBytes)
export const recordBytes = (set: SetShape): number => identityBytes(set) + set.dataBytes + (set.countOver ? 4 : 0)
