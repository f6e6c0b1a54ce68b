import type { NftChange, NftElements } from '@spout/sys'
import { addGeneration, removeGeneration } from '../../nft/generation.ts'
import { difference } from './difference.ts'
import type { Rendered } from './rendered.ts'
import { type EntryChange, REVERSE_SETS, ReverseClaims } from './reverse-claims.ts'
import { FORMER_SETS, SETS, type SetName, type SetShape, TRANSLATING_SETS } from './sets.ts'

/** A planned transaction, and a function that records it as done. */
export interface Plan {
  /** Empty if the kernel has everything already. */
  readonly changes: readonly NftChange[]
  /** The generation after the transaction. */
  readonly generation: bigint
  accept(): void
}

/**
 * The content of a domain's table, as far as later differences need it. Plans transactions and records them, without
 * the kernel.
 */
export class TableContent {
  readonly #sets: readonly SetName[]
  readonly #entries = new Map<string, Rendered>()
  readonly #claims = new Map(REVERSE_SETS.map((set) => [set, new ReverseClaims(set)]))
  /** XOR of the entries' digests: independent of their order, and different after each change. */
  #generation = 0n
  #marked = false
  /** Whether the kernel may have elements of `FORMER_SETS` that an earlier agent added. */
  #hasUnknown = false

  /** @param sets of the table, in the order in which a transaction fills them */
  constructor(sets: readonly SetName[] = TRANSLATING_SETS) {
    this.#sets = sets
  }

  get entries(): ReadonlyMap<string, Rendered> {
    return this.#entries
  }

  get generation(): bigint {
    return this.#generation
  }

  /** Takes the kernel's word that it holds these entries. */
  adopt(entries: Iterable<readonly [string, Rendered | null]>): void {
    this.plan(entries).accept()
    this.#hasUnknown = true
  }

  /**
   * The difference to the current content. All deletions come before all additions, since an address may move between
   * entries.
   */
  plan(wanted: Iterable<readonly [string, Rendered | null]>): Plan {
    const all = Array.from(wanted, ([key, after]): EntryChange => {
      return { key, before: this.#entries.get(key) ?? null, after }
    })
    const changes = all.filter(({ before, after }) => before?.digest !== after?.digest)
    let generation = this.#generation
    for (const { before, after } of changes) generation ^= (before?.digest ?? 0n) ^ (after?.digest ?? 0n)
    const deletes: NftChange[] = []
    const adds: NftElements[] = []
    const accepts: (() => void)[] = []
    for (const name of this.#sets) {
      const claims = name === 'reverse4' || name === 'reverse6' ? this.#claims.get(name) : undefined
      const reverse = claims?.plan(changes, (key) => this.#entries.get(key))
      const edits = reverse === undefined ? plainEdits(name, changes) : reverse
      if (reverse !== undefined) accepts.push(reverse.accept)
      const shape = SETS[name]
      if (edits.deletes.length > 0) deletes.push(deletion(name, shape, edits.deletes))
      if (edits.adds.length > 0) adds.push(addition(name, shape, edits.adds))
    }
    const flushes = this.#hasUnknown ? flushesBefore(adds) : []
    const isSame = deletes.length + adds.length === 0 && generation === this.#generation && this.#marked
    return {
      changes: isSame ? [] : [...flushes, ...deletes, ...adds, ...this.#mark(generation)],
      generation,
      accept: () => {
        for (const accept of accepts) accept()
        for (const { key, after } of all)
          if (after === null) this.#entries.delete(key)
          else this.#entries.set(key, after)
        this.#generation = generation
        this.#marked = true
        if (flushes.length > 0) this.#hasUnknown = false
      },
    }
  }

  #mark(generation: bigint): readonly NftChange[] {
    return [...(this.#marked ? [removeGeneration] : []), addGeneration(generation)]
  }
}

/** Elements of an earlier agent may have the same keys. */
const flushesBefore = (adds: readonly NftElements[]): readonly NftChange[] =>
  adds.some(({ set }) => isFormer(set)) ? FORMER_SETS.map((set) => ({ do: 'flush', set })) : []

const isFormer = (set: string): boolean => (FORMER_SETS as readonly string[]).includes(set)

function plainEdits(name: SetName, changes: readonly EntryChange[]): { deletes: Buffer; adds: Buffer } {
  const shape: SetShape = SETS[name]
  const keptAs = (shape.keysOf ?? name) as SetName
  const edits = changes.map(({ before, after }) =>
    difference(shape, before?.records.get(keptAs), after?.records.get(keptAs)),
  )
  return {
    deletes: Buffer.concat(edits.map((edit) => edit.deletes)),
    adds: Buffer.concat(edits.map((edit) => edit.adds)),
  }
}

const deletion = (set: SetName, shape: SetShape, elements: Buffer): NftElements => ({
  do: 'delete',
  set,
  keyBytes: shape.keyBytes,
  elements,
  ...(shape.interval ? { interval: true } : {}),
})

const addition = (set: SetName, shape: SetShape, elements: Buffer): NftElements => ({
  do: 'add',
  set,
  keyBytes: shape.keyBytes,
  elements,
  ...(shape.dataBytes > 0 ? { dataBytes: shape.dataBytes } : {}),
  ...(shape.interval ? { interval: true } : {}),
  ...(shape.countOver ? { expr: 'count-over' as const } : {}),
})
