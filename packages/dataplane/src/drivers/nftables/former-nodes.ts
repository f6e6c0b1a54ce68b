import { PackedRecords } from './packed-records.ts'
import { setOf } from './record-builder.ts'
import { pack } from './registers.ts'
import type { Rendered, Spread } from './rendered.ts'
import { identityBytes, recordBytes, SETS, type SetName } from './sets.ts'

const VERSIONS = [4, 6] as const

/**
 * Adds to an entry of table `spreading` the nodes that its slots led to before they came to this one. Connections that
 * began then are there, and a node that has got the address meanwhile sends them here, since it knows the slots alone.
 *
 * A slot has one former node at most, the last one. It keeps it when it leads elsewhere later: other nodes remember this
 * one for connections that go on there. A node whose members of the pool are all down is none: it may be dead, and its
 * connections end sooner by this node's refusal than by no answer.
 * @param before the same entry as this returned it last; undefined if this node did not have it
 * @returns with the digest of `spread.entry`, since no other node and no later agent knows of it
 */
export function withFormerNodes(before: Rendered | undefined, { entry, own, silent }: Spread): Rendered {
  if (before === undefined) return entry
  if (before.digest === entry.digest) return before
  const parts = new Map<SetName, readonly Buffer[]>(Array.from(entry.records.entries(), ([set, part]) => [set, [part]]))
  for (const version of VERSIONS) {
    const lost = new Set(
      silent.filter((one) => one.version === version).map(({ mark, host }) => latin1(pack({ mark }, { mark: host }))),
    )
    const former = formerRecords(setOf('spread', version), before, entry, pack({ mark: own })).filter(
      (record) => !lost.has(latin1(Buffer.concat([markOf(record), hostOf(record)]))),
    )
    if (former.length === 0) continue
    parts.set(setOf('former', version), former)
    const pools = new Map(former.map((record) => [latin1(markOf(record)), markOf(record)]))
    parts.set(setOf('moved', version), [...pools.values()])
  }
  return { ...entry, records: new PackedRecords(parts) }
}

/** Records of `former`: of each slot that comes to this node now, and of those that did before. */
function formerRecords(set: 'spread4' | 'spread6', before: Rendered, after: Rendered, own: Buffer): readonly Buffer[] {
  const former = set === 'spread4' ? 'former4' : 'former6'
  const [had, led] = [bySlot(former, before), bySlot(set, before)]
  return [...bySlot(set, after)].flatMap(([slot, record]) => {
    const earlier = led.get(slot)
    const comes = hostOf(record).equals(own) && earlier !== undefined && !hostOf(earlier).equals(own)
    return (comes ? earlier : had.get(slot)) ?? []
  })
}

/** A record of `spread` and one of `former` look the same: mark of the pool, slot, number of a node. */
function bySlot(set: SetName, { records }: Rendered): ReadonlyMap<string, Buffer> {
  const all = records.get(set) ?? Buffer.alloc(0)
  const found = new Map<string, Buffer>()
  for (let at = 0; at < all.length; at += recordBytes(SETS[set])) {
    const record = all.subarray(at, at + recordBytes(SETS[set]))
    found.set(latin1(record.subarray(0, identityBytes(SETS[set]))), record)
  }
  return found
}

const markOf = (record: Buffer): Buffer => record.subarray(0, 4)
const hostOf = (record: Buffer): Buffer => record.subarray(8, 12)
const latin1 = (bytes: Buffer): string => bytes.toString('latin1')
