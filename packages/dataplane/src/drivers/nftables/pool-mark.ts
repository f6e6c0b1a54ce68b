import { type NodePool, SLOT_TABLE_SIZES } from '@spout/model/node-state'
import type { Transport } from '@spout/model/protocols'

/**
 * A fixed seed. Otherwise the kernel picks a random one per rule, and nodes would choose different members for the same
 * flow.
 */
export const HASH_SEED = 0x5b0f_75a1

const CLASS_SHIFT = 24
const AFFINITY = 1 << 26
/** The bits that select the hash rule. */
export const CLASS_MASK = 0x0700_0000
/** The bits that identify the pool in map `member`: its number and its hash class. */
export const POOL_MASK = 0x07ff_ffff

/** Flags in a service's mark, besides its pool's mark: further checks of a new flow. */
export const SERVICE_FLAGS = { proxied: 1 << 27, limited: 1 << 28, restricted: 1 << 29, kept: 1 << 30 } as const
/** Marks of packets to the proxy. It is not 0 where flows are tracked, so that the guard recognizes the responses. */
export const REDIRECT_MARKS = { front: 0, checked: 1 } as const
/** For most services all these bits are 0: 64 slots, hashed over address and port, no flags. */
export const SPECIAL_MASK = 0x7f00_0000

/** One hash rule of the table: pools of this size, hashed over the source address with or without its port. */
export interface HashClass {
  readonly bits: number
  readonly size: number
  readonly sourceAffinity: boolean
}

const classBits = (size: number, sourceAffinity: boolean): number =>
  ((SLOT_TABLE_SIZES as readonly number[]).indexOf(size) << CLASS_SHIFT) | (sourceAffinity ? AFFINITY : 0)

export const HASH_CLASSES: readonly HashClass[] = [false, true].flatMap((sourceAffinity) =>
  SLOT_TABLE_SIZES.map((size) => ({ bits: classBits(size, sourceAffinity), size, sourceAffinity })),
)

/** The mark that a packet carries from the service lookup to the member lookup: pool number and hash class. Never 0. */
export const poolMark = (pool: Pick<NodePool, 'number' | 'slots' | 'sourceAffinity'>): number =>
  classBits(pool.slots?.size ?? 64, pool.sourceAffinity) | pool.number

const ANSWERS: Readonly<Record<Transport, number>> = { tcp: 0, udp: 1 << 24, sctp: 2 << 24 }

/**
 * Identifies a pool by the transport of its members' responses. The first service of that transport gives the source
 * address. Never 0.
 */
export const answerMark = ({ number }: Pick<NodePool, 'number'>, transport: Transport): number =>
  ANSWERS[transport] | number
