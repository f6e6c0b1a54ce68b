import { changedPart, fewStretchesOf, type Stretch } from './list-difference.ts'
import { sameJson } from './same-json.ts'

/** Path to a value: field names and list indexes. */
type Path = readonly (string | number)[]

/** `count` items of the previous list, starting at index `from`. */
type Run = readonly [from: number, count: number]
/** Items that the previous list did not have. */
interface Fresh {
  readonly items: readonly unknown[]
}

/** Replaces the text from offset `at`, in UTF-16 units, with `text` of the same length. */
type Splice = readonly [at: number, text: string]

/**
 * One step from a JSON value to another: sets a field or item, drops a field, reassembles a list, or replaces parts of
 * a text.
 */
export type Edit =
  | readonly [path: Path, what: 'set', value: unknown]
  | readonly [path: Path, what: 'drop']
  | readonly [path: Path, what: 'list', parts: readonly (Run | Fresh)[]]
  | readonly [path: Path, what: 'text', splices: readonly Splice[]]

/** Version of this format. Readers of edits name the version that they understand. Version 2 added the edit `text`. */
export const EDITS_VERSION = '2'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Texts of at least this length are compared part by part. In practice these are slot tables. */
const LONG_TEXT = 512
/** Approximate cost of one splice, in UTF-16 units, besides its text. */
const SPLICE_UNITS = 10
/** Compares this many units at a time, because most blocks are equal. */
const BLOCK = 128

/** No edit names this field: setting it would change the object's prototype. */
const UNSAYABLE = '__proto__'

/**
 * The edits that turn `before` into `after`. Parts that are the same object in both are skipped, so the cost depends on
 * what was built anew. In lists, equal items are referred to by index, and items with the same `id` are versions of
 * each other.
 * @returns null where edits cannot express the change
 */
export function editsBetween(before: unknown, after: unknown): readonly Edit[] | null {
  const finding = findingEdits(before, after)
  for (;;) {
    const step = finding.next()
    if (step.done === true) return step.value
  }
}

/** How many parts are compared between two yields. */
const AT_ONCE = 64

/** Two versions of a part, which differ. */
interface Versions {
  readonly before: unknown
  readonly after: unknown
  readonly path: Path
}

/** As `editsBetween`, but yields after every `AT_ONCE` parts, because a document may have thousands of them. */
export function* findingEdits(before: unknown, after: unknown): Generator<undefined, readonly Edit[] | null> {
  const edits: Edit[] = []
  const left: Versions[] = [{ before, after, path: [] }]
  for (let count = 1; left.length > 0; count++) {
    if (count % AT_ONCE === 0) yield
    const parts = note(left.pop()!, edits)
    if (parts === null) return null
    for (let at = parts.length - 1; at >= 0; at--) left.push(parts[at]!)
  }
  return edits
}

/** @returns the parts of them that differ; null where edits cannot express the change */
function note({ before, after, path }: Versions, edits: Edit[]): readonly Versions[] | null {
  if (before === after) return []
  if (Array.isArray(before) && Array.isArray(after)) return noteList(before, after, path, edits)
  if (isFields(before) && isFields(after)) return noteFields(before, after, path, edits)
  if (path.length === 0) return null
  noteValue(before, after, path, edits)
  return []
}

function noteValue(before: unknown, after: unknown, path: Path, edits: Edit[]): void {
  const splices = typeof before === 'string' && typeof after === 'string' ? splicesOf(before, after) : null
  edits.push(splices === null ? [path, 'set', after] : [path, 'text', splices])
}

/** @returns null unless splices are much shorter than the text */
function splicesOf(before: string, after: string): readonly Splice[] | null {
  if (after.length < LONG_TEXT || before.length !== after.length) return null
  const splices: Splice[] = []
  let units = 0
  for (let at = 0; at < after.length; at++) {
    if (at % BLOCK === 0 && before.slice(at, at + BLOCK) === after.slice(at, at + BLOCK)) at += BLOCK - 1
    if (at >= after.length || before.charCodeAt(at) === after.charCodeAt(at)) continue
    let end = at + 1
    for (let next = end; next < after.length && next < end + SPLICE_UNITS; next++)
      if (before.charCodeAt(next) !== after.charCodeAt(next)) end = next + 1
    units += SPLICE_UNITS + end - at
    if (units > after.length / 4) return null
    splices.push([at, after.slice(at, end)])
    at = end
  }
  return splices
}

function noteFields(before: Fields, after: Fields, path: Path, edits: Edit[]): readonly Versions[] | null {
  if (Object.hasOwn(before, UNSAYABLE) || Object.hasOwn(after, UNSAYABLE)) return null
  // `for in` allocates no list of names, as Object.keys would: a document has thousands of small objects.
  let left = 0
  for (const _ in before) left++
  const drops = edits.length
  const parts: Versions[] = []
  for (const name in after) {
    const value = after[name]
    if (!Object.hasOwn(before, name)) {
      edits.push([[...path, name], 'set', value])
      continue
    }
    left--
    const then = before[name]
    if (then === value) continue
    if (typeof then === 'object' && typeof value === 'object')
      parts.push({ before: then, after: value, path: [...path, name] })
    else noteValue(then, value, [...path, name], edits)
  }
  if (left > 0) {
    const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
    edits.splice(drops, 0, ...gone.map((name): Edit => [[...path, name], 'drop']))
  }
  return parts
}

function noteList(
  before: readonly unknown[],
  after: readonly unknown[],
  path: Path,
  edits: Edit[],
): readonly Versions[] {
  const stretches = after.length < LONG_LIST ? null : fewStretchesOf(before, after)
  const places = before.length === after.length ? changedPlaces(before, after, stretches) : null
  if (places?.every((at) => belongTogether(before[at], after[at])) === true)
    return places.map((at) => ({ before: before[at], after: after[at], path: [...path, at] }))
  edits.push([path, 'list', stretches === null ? partsOf(before, after) : stretches.map(partOf(after))])
  return []
}

/** Lists of at least this length are compared once for all who compare the same two (`fewStretchesOf`). */
const LONG_LIST = 64

/** The indexes at which two lists of the same length differ; null if items are not at their places. */
function changedPlaces(
  before: readonly unknown[],
  after: readonly unknown[],
  stretches: readonly Stretch[] | null,
): readonly number[] | null {
  if (stretches === null) return after.flatMap((item, at) => (before[at] === item ? [] : [at]))
  if (stretches.some(({ at, from }) => from !== null && from !== at)) return null
  return stretches.flatMap(({ at, count, from }) =>
    from === null ? Array.from({ length: count }, (_, place) => at + place) : [],
  )
}

const partOf =
  (after: readonly unknown[]) =>
  ({ at, count, from }: Stretch): Run | Fresh =>
    from === null ? { items: after.slice(at, at + count) } : [from, count]

const keyOf = (item: unknown): unknown => (isFields(item) && typeof item['id'] === 'string' ? item['id'] : item)
/**
 * Whether two items at the same index of equally long lists are versions of one item. Objects without an `id` always
 * are.
 */
const belongTogether = (a: unknown, b: unknown): boolean =>
  keyOf(a) === keyOf(b) || (isFields(a) && isFields(b) && keyOf(a) === a && keyOf(b) === b) || sameJson(a, b)

/** Items that come at one place, at most, are seen without a look at all others. */
const MOST_TOGETHER = 8

function partsOf(before: readonly unknown[], after: readonly unknown[]): readonly (Run | Fresh)[] {
  const parts: ([number, number] | { items: unknown[] })[] = []
  const stood = (at: number, item: unknown): boolean => at < before.length && sameJson(before[at], item)
  /** Whether items came at this place of `after`, and then it goes on as `before` does at `at`. */
  const goesOnBehind = (place: number, at: number): boolean => {
    const end = Math.min(place + MOST_TOGETHER, after.length - 1)
    for (let behind = place + 1; behind <= end; behind++) if (stood(at, after[behind])) return true
    return false
  }
  let places: Map<unknown, number> | null = null
  const { first: same } = changedPart(before, after)
  if (same > 0) parts.push([0, same])
  let next = same
  /** True while all items so far are those of `before`, in order. Then any item past the end of `before` is new. */
  let isAll = true
  for (let place = same; place < after.length; place++) {
    const item = after[place]
    let at = next
    let hasCome = false
    if (isAll && at >= before.length) at = -1
    else if (!stood(at, item)) {
      isAll = false
      // Most often one item was removed and this is the one after it, or this one was added and the next ones stay.
      if (stood(at + 1, item)) at++
      else if (goesOnBehind(place, at) && !before.includes(item)) {
        at = -1
        hasCome = true
      } else {
        places ??= new Map(before.map((known, place) => [keyOf(known), place]))
        at = places.get(keyOf(item)) ?? -1
        if (!stood(at, item)) at = -1
      }
    }
    const last = parts.at(-1)
    if (at < 0) {
      if (last !== undefined && 'items' in last) last.items.push(item)
      else parts.push({ items: [item] })
      // Most often the new item replaced the one at this index.
      if (!hasCome) next++
    } else {
      if (Array.isArray(last) && last[0] + last[1] === at) last[1]++
      else parts.push([at, 1])
      next = at + 1
    }
  }
  return parts as unknown as readonly (Run | Fresh)[]
}

/** @returns the value with the edits applied. It shares all unchanged parts with `value`. */
export const edited = (value: unknown, edits: readonly Edit[]): unknown =>
  edits.reduce<unknown>((now, edit) => withEdit(now, edit, 0), value)

function withEdit(value: unknown, edit: Edit, depth: number): unknown {
  const [path, what, how] = edit
  const step = path[depth]
  if (step === undefined) {
    if (what === 'list') return listOf(value as readonly unknown[], how)
    return what === 'text' ? textOf(value as string, how) : how
  }
  const isLast = depth === path.length - 1
  if (Array.isArray(value)) return value.with(step as number, withEdit(value[step as number], edit, depth + 1))
  const { [step]: before, ...others } = value as Fields
  if (isLast && what === 'drop') return others
  return { ...(value as Fields), [step]: withEdit(before, edit, depth + 1) }
}

function listOf(before: readonly unknown[], parts: readonly (Run | Fresh)[]): unknown[] {
  const after: unknown[] = []
  for (const part of parts)
    if ('items' in part) after.push(...part.items)
    else for (let at = part[0]; at < part[0] + part[1]; at++) after.push(before[at])
  return after
}

function textOf(before: string, splices: readonly Splice[]): string {
  const parts: string[] = []
  let from = 0
  for (const [at, text] of splices) {
    parts.push(before.slice(from, at), text)
    from = at + text.length
  }
  parts.push(before.slice(from))
  return parts.join('')
}
