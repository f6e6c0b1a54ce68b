import { type NodePool, SLOT_TABLE_SIZES } from '@spout/model/node-state'
import type { Transport } from '@spout/model/protocols'

/** Written out: without it the kernel draws one per rule, and nodes would deal the same flow to different members. */
export const HASH_SEED = 0x5b0f_75a1

const CLASS_SHIFT = 24
const AFFINITY = 1 << 26
/** The bits that choose the hash rule. */
export const CLASS_MASK = 0x0700_0000
/** The bits that name the pool in map `member`: its number and its class. */
export const POOL_MASK = 0x07ff_ffff

/** Beside its pool's mark, a service's own mark tells what else a new flow to it has to pass. */
export const SERVICE_FLAGS = { proxied: 1 << 27, limited: 1 << 28, restricted: 1 << 29 } as const
/** Marks of packets to the proxy. It is not 0 where flows are tracked, so that the guard recognizes the responses. */
export const REDIRECT_MARKS = { front: 0, checked: 1 } as const
/** No bit of these is set for most services: 64 slots, hashed over address and port, none of the flags. */
export const SPECIAL_MASK = 0x3f00_0000

/** One rule of the table: pools of this size, hashed over the source address with or without its port. */
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

/** What a packet carries from the service lookup to the member lookup: the pool's number and how to hash. Never 0. */
export const poolMark = (pool: Pick<NodePool, 'number' | 'slots' | 'sourceAffinity'>): number =>
  classBits(pool.slots?.size ?? 64, pool.sourceAffinity) | pool.number

const ANSWERS: Readonly<Record<Transport, number>> = { tcp: 0, udp: 1 << 24, sctp: 2 << 24 }

/** Names a pool by what its members answer over: the first service of that transport says as whom. Never 0. */
export const answerMark = ({ number }: Pick<NodePool, 'number'>, transport: Transport): number =>
  ANSWERS[transport] | number
