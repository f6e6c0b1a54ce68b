/** One set or map of table `inet spout`: how its elements lie in kernel registers, in bytes. */
export interface SetShape {
  /** As written in the table's text. */
  readonly type: string
  readonly kind: 'map' | 'set'
  readonly keyBytes: number
  readonly dataBytes: number
  /** Keys are ranges: a record holds the first key, then the last one. */
  readonly interval: boolean
  /** Each element carries a `ct count over`: its limit stands at the end of the record. */
  readonly countOver: boolean
  /** Each element counts the packets that met it. */
  readonly counter: boolean
  /** Holds the same keys as this set: its records are kept once. */
  readonly keysOf?: string
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

/** A port that stands alone is not padded. */
export const PORT_BYTES = 2

const family = <Version extends 4 | 6>(version: Version) => {
  const address = version === 4 ? 'ipv4_addr' : 'ipv6_addr'
  const bytes = version === 4 ? 4 : 16
  const endpoint = `${address} . inet_proto . inet_service`
  const endpointBytes = bytes + 8
  return {
    /** VIP . protocol . port -> pool mark and flags. */
    service: shape('map', `${endpoint} : mark`, endpointBytes, 4),
    /** Pool mark . slot -> member. */
    member: shape('map', `mark . mark : ${address} . inet_service`, 8, bytes + 4),
    /** What the proxy carries: asked for every packet of a domain. */
    proxied: shape('set', endpoint, endpointBytes),
    /** VIP . protocol . port -> the proxy's port, for services without flags of their own: their flows are not tracked. */
    front: shape('map', `${endpoint} : inet_service`, endpointBytes, PORT_BYTES),
    /** The same for services flagged as limited or restricted: theirs are. */
    checked: shape('map', `${endpoint} : inet_service`, endpointBytes, PORT_BYTES),
    /** Member . protocol . port -> VIP: for replies that come before their requests. */
    reverse: shape('map', `${endpoint} : ${address} . inet_service`, endpointBytes, bytes + 4),
    /** Admitted sources of the services flagged as restricted. */
    allowed: { ...shape('set', `${endpoint} . ${address}`, endpointBytes + bytes), interval: true },
    /** VIP . protocol . port -> the service's key in `limits`, for those flagged as limited. */
    limited: shape('map', `${endpoint} : mark`, endpointBytes, 4),
    /** New flows, packets that came and packets that went, per VIP . protocol . port. */
    opened: { ...shape('set', endpoint, endpointBytes), counter: true },
    received: { ...shape('set', endpoint, endpointBytes), counter: true, keysOf: `opened${version}` },
    sent: { ...shape('set', endpoint, endpointBytes), counter: true, keysOf: `opened${version}` },
  } as const
}

const v4 = family(4)
const v6 = family(6)

/** Every set of the table. A service over several VIPs has one mark and so one limit. */
export const SETS = {
  service4: v4.service,
  member4: v4.member,
  proxied4: v4.proxied,
  front4: v4.front,
  checked4: v4.checked,
  reverse4: v4.reverse,
  allowed4: v4.allowed,
  limited4: v4.limited,
  opened4: v4.opened,
  received4: v4.received,
  sent4: v4.sent,
  service6: v6.service,
  member6: v6.member,
  proxied6: v6.proxied,
  front6: v6.front,
  checked6: v6.checked,
  reverse6: v6.reverse,
  allowed6: v6.allowed,
  limited6: v6.limited,
  opened6: v6.opened,
  received6: v6.received,
  sent6: v6.sent,
  limits: { ...shape('set', 'mark', 4), countOver: true },
} as const satisfies Record<string, SetShape>

export type SetName = keyof typeof SETS
export const SET_NAMES = Object.keys(SETS) as readonly SetName[]

/** Bytes by which an element is known: its key, or first and last key of a range. */
export const identityBytes = ({ keyBytes, interval }: SetShape): number => (interval ? 2 * keyBytes : keyBytes)
export const recordBytes = (set: SetShape): number => identityBytes(set) + set.dataBytes + (set.countOver ? 4 : 0)
