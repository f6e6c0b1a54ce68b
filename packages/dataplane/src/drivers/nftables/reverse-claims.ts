import { difference } from './difference.ts'
import type { Rendered } from './rendered.ts'
import { SETS, type SetName } from './sets.ts'

/** An entry before and after a change; null if absent. */
export interface EntryChange {
  readonly key: string
  readonly before: Rendered | null
  readonly after: Rendered | null
}

export const REVERSE_SETS = ['reverse4', 'reverse6'] as const satisfies readonly SetName[]
type ReverseSet = (typeof REVERSE_SETS)[number]

/** The packed elements of one reverse map that a set of changes adds and removes, and a function that commits them. */
export interface ReversePlan {
  readonly deletes: Buffer
  readonly adds: Buffer
  accept(): void
}

/**
 * The entries that claim an element. There are many elements, most with one claimant, so a single one is not wrapped.
 */
type Claimants = string | Set<string>

/** The changes of the claims on one element. In most cases one is added and none is removed. */
interface Edit {
  readonly come: string[]
  go: Set<string> | null
}

/**
 * Decides which entry defines the source of a member's early replies. A member's address and port can serve several
 * load balancers, but the map holds one. The entry with the smallest key wins, so that all nodes agree.
 */
export class ReverseClaims {
  readonly #set: ReverseSet
  readonly #claims = new Map<string, Claimants>()
  /** The smallest key of elements with several claimants. */
  readonly #holders = new Map<string, string>()

  constructor(set: ReverseSet) {
    this.#set = set
  }

  plan(changes: readonly EntryChange[], entryBefore: (key: string) => Rendered | undefined): ReversePlan {
    const after = new Map(changes.map((change) => [change.key, change.after]))
    const find = this.#finder()
    const edits = new Map<string, Edit>()
    for (const change of changes) {
      // Unchanged claims stay.
      const { deletes: go, adds: come } = difference(
        SETS[this.#set],
        change.before?.records.get(this.#set),
        change.after?.records.get(this.#set),
      )
      for (const element of this.#keys(go, 0)) {
        const edit = editOf(edits, element)
        edit.go ??= new Set()
        edit.go.add(change.key)
      }
      for (const element of this.#keys(come, SETS[this.#set].dataBytes)) editOf(edits, element).come.push(change.key)
    }
    const deletes: Buffer[] = []
    const adds: Buffer[] = []
    const heirs = new Map<string, string | undefined>()
    for (const [element, edit] of edits) {
      const holder = this.#holder(element)
      const heir = this.#heir(element, edit, holder)
      heirs.set(element, heir)
      const old = holder === undefined ? undefined : find(entryBefore(holder), element)
      const heirEntry = heir === undefined ? undefined : after.has(heir) ? after.get(heir) : entryBefore(heir)
      const fresh = find(heirEntry, element)
      if (sameBytes(old, fresh)) continue
      if (old !== undefined) deletes.push(old.subarray(0, SETS[this.#set].keyBytes))
      if (fresh !== undefined) adds.push(fresh)
    }
    return {
      deletes: Buffer.concat(deletes),
      adds: Buffer.concat(adds),
      accept: () => {
        for (const [element, edit] of edits) this.#accept(element, edit, heirs.get(element))
      },
    }
  }

  #holder(element: string): string | undefined {
    const claimants = this.#claims.get(element)
    return typeof claimants === 'string' ? claimants : this.#holders.get(element)
  }

  /** The smallest key after the edit. All claimants are compared only if the holder goes. */
  #heir(element: string, { come, go }: Edit, holder: string | undefined): string | undefined {
    let heir = smallest(come)
    if (holder === undefined) return heir
    if (!go?.has(holder)) return heir === undefined || holder < heir ? holder : heir
    const claimants = this.#claims.get(element)
    if (claimants instanceof Set)
      for (const key of claimants) if (!go?.has(key) && (heir === undefined || key < heir)) heir = key
    return heir
  }

  #accept(element: string, { come, go }: Edit, heir: string | undefined): void {
    const claimants = this.#claims.get(element)
    if (claimants === undefined && come.length === 1) {
      this.#claims.set(element, come[0]!)
      return
    }
    const all = claimants instanceof Set ? claimants : new Set(claimants === undefined ? [] : [claimants])
    for (const key of go ?? []) all.delete(key)
    for (const key of come) all.add(key)
    this.#holders.delete(element)
    if (heir === undefined) this.#claims.delete(element)
    else if (all.size === 1) this.#claims.set(element, heir)
    else {
      this.#claims.set(element, all)
      this.#holders.set(element, heir)
    }
  }

  /** Element keys of packed records with this many bytes after the key. */
  *#keys(bytes: Buffer, restBytes: number): Generator<string> {
    const { keyBytes } = SETS[this.#set]
    for (let at = 0; at < bytes.length; at += keyBytes + restBytes) yield bytes.toString('latin1', at, at + keyBytes)
  }

  /** Finds an entry's record by its element key. An entry that is searched often is indexed once. */
  #finder(): (entry: Rendered | null | undefined, element: string) => Buffer | undefined {
    const read = new Map<Rendered, ReadonlyMap<string, Buffer>>()
    const asked = new Map<Rendered, number>()
    const { keyBytes, dataBytes } = SETS[this.#set]
    const size = keyBytes + dataBytes
    return (entry, element) => {
      const bytes = entry?.records.get(this.#set)
      if (!entry || bytes === undefined) return undefined
      const known = read.get(entry)
      if (known !== undefined) return known.get(element)
      const times = (asked.get(entry) ?? 0) + 1
      asked.set(entry, times)
      if (times < OFTEN) return search(bytes, element, size)
      const elements = new Map<string, Buffer>()
      for (let at = 0; at < bytes.length; at += size)
        elements.set(bytes.toString('latin1', at, at + keyBytes), bytes.subarray(at, at + size))
      read.set(entry, elements)
      return elements.get(element)
    }
  }
}

const OFTEN = 8

/** The record that begins with these bytes. */
function search(bytes: Buffer, element: string, size: number): Buffer | undefined {
  for (let at = bytes.indexOf(element, 0, 'latin1'); at >= 0; at = bytes.indexOf(element, at + 1, 'latin1'))
    if (at % size === 0) return bytes.subarray(at, at + size)
  return undefined
}

function editOf(edits: Map<string, Edit>, element: string): Edit {
  const known = edits.get(element)
  if (known !== undefined) return known
  const edit: Edit = { come: [], go: null }
  edits.set(element, edit)
  return edit
}

const smallest = (keys: readonly string[]): string | undefined => {
  let least: string | undefined
  for (const key of keys) if (least === undefined || key < least) least = key
  return least
}

const sameBytes = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.equals(b))
