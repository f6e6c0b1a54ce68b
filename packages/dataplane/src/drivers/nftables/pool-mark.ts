import { type NodePool, SLOT_TABLE_SIZES } from '@spout/model/node-state'
import type { Transport } from '@spout/model/protocols'

/**
 * A fixed seed. Otherwise the kernel picks a random one per rule, and nodes would choose different members for the same
 * flow.
 */
export const HASH_SEED = 0x5b0f_75a1

const CLASS_SHIFT = 24
const AFFINITY = 1 << 26
const NETWORK = 2 ** 31
/** The bits that select the hash rule. */
export const CLASS_MASK = 0x8700_0000
/** The bits that identify the pool in map `member`: its number and its hash class. */
export const POOL_MASK = 0x87ff_ffff

/** Flags in a service's mark, besides its pool's mark: further checks of a new flow. */
export const SERVICE_FLAGS = { proxied: 1 << 27, limited: 1 << 28, restricted: 1 << 29, kept: 1 << 30 } as const
/** Marks of packets to the proxy. It is not 0 where flows are tracked, so that the guard recognizes the responses. */
export const REDIRECT_MARKS = { front: 0, checked: 1 } as const
/** For most services all these bits are 0: 64 slots, hashed over address and port, no flags. */
export const SPECIAL_MASK = 0xff00_0000
/** In the marks of pools whose clients are told apart by their network. */
export const NETWORK_MASK = NETWORK

/** What a client is told apart by. */
const HASHED = ['address-and-port', 'address', 'network'] as const
type Hashed = (typeof HASHED)[number]

/** One hash rule of the table: pools of this size, hashed over so much of the source. */
export interface HashClass {
  readonly bits: number
  readonly size: number
  readonly over: Hashed
}

const HASHED_BITS = { 'address-and-port': 0, address: AFFINITY, network: AFFINITY + NETWORK } as const
const classBits = (size: number, over: Hashed): number =>
  HASHED_BITS[over] + ((SLOT_TABLE_SIZES as readonly number[]).indexOf(size) << CLASS_SHIFT)

export const HASH_CLASSES: readonly HashClass[] = HASHED.flatMap((over) =>
  SLOT_TABLE_SIZES.map((size) => ({ bits: classBits(size, over), size, over })),
)

/** The mark that a packet carries from the service lookup to the member lookup: pool number and hash class. Never 0. */
export const poolMark = (pool: Pick<NodePool, 'number' | 'slots' | 'sourceAffinity' | 'clientNetworks'>): number =>
  classBits(pool.slots?.size ?? 64, hashedOver(pool)) + pool.number

const hashedOver = ({ sourceAffinity, clientNetworks }: Pick<NodePool, 'sourceAffinity' | 'clientNetworks'>): Hashed =>
  sourceAffinity ? (clientNetworks === undefined ? 'address' : 'network') : 'address-and-port'

const ANSWERS: Readonly<Record<Transport, number>> = { tcp: 0, udp: 1 << 24, sctp: 2 << 24 }

/**
 * Identifies a pool by the transport of its members' responses. The first service of that transport gives the source
 * address. Never 0.
 */
export const answerMark = ({ number }: Pick<NodePool, 'number'>, transport: Transport): number =>
  ANSWERS[transport] | number
