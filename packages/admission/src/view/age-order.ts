/** Fields by which objects are ordered. They never change. */
export interface Aged {
  readonly id: string
  readonly createdAt: string
}

/** Oldest first; of the same time by id. */
const byAge = (a: Aged, b: Aged): number =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0

/** An object that changed: its version in the list, and its present one. Null: it is not in the list, or gone. */
interface Change<T> {
  readonly listed: Aged | null
  readonly now: T | null
}

/**
 * Limit of objects that have a newer version than the list. The list keeps the former ones in memory, and they can be
 * large.
 */
const MOST_FORMER = 64
/** With this many more changes than the list has rows, sorting everything anew is as fast. */
const MOST_CHANGES = 1024

/**
 * Objects in the order of their age. It remembers what changed since its list was last asked for, so that the next list
 * costs a copy and a search for each change. Sorting tens of thousands anew would block the event loop longer than any
 * request.
 */
export class AgeOrder<T extends Aged> {
  #rows: readonly T[]
  /** By id, since `#rows` was made. */
  readonly #changes = new Map<string, Change<T>>()
  #former = 0

  constructor(objects: Iterable<T>) {
    this.#rows = [...objects].sort(byAge)
  }

  /** @param before the version before; null for none. @param now the present one; null when it is gone */
  replace(before: T | null, now: T | null): void {
    const id = (now ?? before)?.id
    if (id === undefined) return
    const known = this.#changes.get(id)
    if (known === undefined && before !== null) this.#former++
    const listed = known !== undefined ? known.listed : before && { id, createdAt: before.createdAt }
    this.#changes.set(id, { listed, now })
  }

  /** Whether so much has changed that a new order is better. */
  get isOutdated(): boolean {
    return this.#former > MOST_FORMER || this.#changes.size > this.#rows.length + MOST_CHANGES
  }

  /** The same list until something changes. A list that was returned never changes. */
  list(): readonly T[] {
    if (this.#changes.size === 0) return this.#rows
    const rows = this.#rows.slice()
    const gone = new Set<T>()
    const come: T[] = []
    for (const { listed, now } of this.#changes.values()) {
      const at = listed === null ? null : placeOf(this.#rows, listed)
      const stays = listed !== null && now !== null && byAge(listed, now) === 0
      if (at !== null && stays) rows[at] = now
      else if (at !== null) gone.add(rows[at]!)
      if (now !== null && !stays) come.push(now)
    }
    this.#changes.clear()
    this.#former = 0
    // To look at every row would take several times as long as the copy.
    this.#rows = merged(gone.size === 0 ? rows : rows.filter((row) => !gone.has(row)), come.sort(byAge))
    return this.#rows
  }
}

/** Merges two sorted lists. What comes is mostly younger than all that is there, and is then appended. */
function merged<T extends Aged>(rows: T[], come: readonly T[]): T[] {
  const [last, first] = [rows.at(-1), come[0]]
  const all = rows.concat(come)
  return last === undefined || first === undefined || byAge(last, first) < 0 ? all : all.sort(byAge)
}

/** The index of an object that is in the list. */
function placeOf(rows: readonly Aged[], object: Aged): number {
  let [low, high] = [0, rows.length - 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byAge(rows[middle]!, object) < 0) low = middle + 1
    else high = middle
  }
  return low
}
