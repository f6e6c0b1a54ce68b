import { LongList, WrittenJson } from '@spout/runtime'

/** Approximate size of one piece, which takes some 0.3 ms to make. */
export const PIECE_CHARACTERS = 65_536

/** A map that is serialised as an object without a copy: readers of one long document share it. */
export class JsonMap {
  readonly #entries: ReadonlyMap<string, unknown>

  constructor(entries: ReadonlyMap<string, unknown>) {
    this.#entries = entries
  }

  /** Field by field. */
  [Symbol.iterator](): Iterator<readonly [string, unknown]> {
    return this.#entries[Symbol.iterator]()
  }

  toJSON(): object {
    return Object.fromEntries(this.#entries)
  }
}

/**
 * The JSON of a value in pieces. Together they are the same as `JSON.stringify`, and other work can run between them.
 * @param value plain data, `JsonMap`, `LongList`, or `WrittenJson`; nothing else in it may have a `toJSON`
 * @param depth down to which arrays and objects are split; everything below is serialised at once
 */
export function* jsonPieces(
  value: unknown,
  depth: number,
  pieceCharacters = PIECE_CHARACTERS,
): Generator<string, undefined> {
  if (isShort(value)) return yield JSON.stringify(value) ?? 'null'
  let piece = ''
  for (const part of partsOf(value, depth)) {
    piece += part
    if (piece.length < pieceCharacters) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** How many items are serialised at once, where they are not split. */
const AT_ONCE = 50

function* partsOf(value: unknown, depth: number): Generator<string, undefined> {
  if (value instanceof WrittenJson) yield value.text
  else if (depth === 0 || value === null || typeof value !== 'object') yield JSON.stringify(value) ?? 'null'
  else if (Array.isArray(value)) yield* itemsOf(value, depth - 1)
  else if (value instanceof JsonMap) yield* mapOf(value)
  else if (value instanceof LongList) yield* shownOf(value, depth - 1)
  else yield* fieldsOf(value, depth - 1)
}

function* itemsOf(items: readonly unknown[], depth: number): Generator<string, undefined> {
  yield '['
  const step = depth === 0 ? AT_ONCE : 1
  for (let first = 0; first < items.length; first += step) {
    if (first > 0) yield ','
    if (step === 1) yield* partsOf(items[first], depth)
    else yield JSON.stringify(items.slice(first, first + step)).slice(1, -1)
  }
  yield ']'
}

/** Few items at a time, because each takes memory once it is rendered. */
function* shownOf(items: LongList, depth: number): Generator<string, undefined> {
  let text = '['
  let between = ''
  let made = 0
  for (const item of items) {
    text += between
    between = ','
    if (item instanceof WrittenJson) text += item.text
    else if (isShort(item)) text += JSON.stringify(item) ?? 'null'
    else {
      yield text
      text = ''
      yield* partsOf(item, depth)
    }
    if (++made % AT_ONCE > 0) continue
    yield text
    text = ''
  }
  yield `${text}]`
}

/** How many values an answer, or an item of a list, may contain to be serialised at once. */
const MOST_VALUES = 100

/** Whether it contains few values, and nothing long. To split it would cost several times its serialisation. */
const isShort = (value: unknown): boolean => roomAfter(value, MOST_VALUES) >= 0

/** How much of the room for values is left after those of `value`; negative when it has too many, or something long. */
function roomAfter(value: unknown, room: number): number {
  if (value === null || typeof value !== 'object') return room - 1
  if (value instanceof LongList) return value.isEmpty ? room - 1 : -1
  if (value instanceof JsonMap || value instanceof WrittenJson) return -1
  let left = room - 1
  for (const name in value) {
    if (left < 0) return left
    left = roomAfter(Reflect.get(value, name), left)
  }
  return left
}

function* mapOf(map: JsonMap): Generator<string, undefined> {
  let fields: (readonly [string, unknown])[] = []
  let before = '{'
  const made = () => before + fieldsAtOnce(fields)
  for (const field of map) {
    fields.push(field)
    if (fields.length < AT_ONCE) continue
    yield made()
    before = ','
    fields = []
  }
  yield fields.length > 0 ? made() : before === '{' ? '{' : ''
  yield '}'
}

/** An object with very many fields is a map of small values, so it is not split further. */
function* fieldsOf(value: object, depth: number): Generator<string, undefined> {
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  if (fields.length > AT_ONCE) return yield* mapOf(new JsonMap(new Map(fields)))
  let between = '{'
  let small: (readonly [string, unknown])[] = []
  for (const field of fields) {
    const [name, inner] = field
    if (depth === 0 || inner === null || typeof inner !== 'object') {
      small.push(field)
      continue
    }
    if (small.length > 0) yield between + fieldsAtOnce(small)
    if (small.length > 0) between = ','
    small = []
    yield `${between}${JSON.stringify(name)}:`
    between = ','
    yield* partsOf(inner, depth)
  }
  if (small.length > 0) yield between + fieldsAtOnce(small)
  yield fields.length === 0 ? '{}' : '}'
}

/** Fields with their separators, without braces. */
const fieldsAtOnce = (fields: readonly (readonly [string, unknown])[]): string =>
  JSON.stringify(Object.fromEntries(fields)).slice(1, -1)
