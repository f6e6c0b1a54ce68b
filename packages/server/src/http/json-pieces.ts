/** Characters of one piece, about: they take some 0.3 ms to make. */
export const PIECE_CHARACTERS = 65_536

/** A map that is written as an object. It is not copied for that: readers of one long document share what they are shown. */
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
 * The JSON of a value in pieces: what `JSON.stringify` says, made bit by bit, so that others can run between the pieces.
 * @param value plain data, or `JsonMap`: nothing else in it has a `toJSON`
 * @param depth how deep arrays and objects are taken apart; what is below is made at once
 */
export function* jsonPieces(
  value: unknown,
  depth: number,
  pieceCharacters = PIECE_CHARACTERS,
): Generator<string, undefined> {
  let piece = ''
  for (const part of partsOf(value, depth)) {
    piece += part
    if (piece.length < pieceCharacters) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** Items of one array or map that are made at once, where they are not taken apart. */
const AT_ONCE = 50

function* partsOf(value: unknown, depth: number): Generator<string, undefined> {
  if (depth === 0 || value === null || typeof value !== 'object') yield JSON.stringify(value) ?? 'null'
  else if (Array.isArray(value)) yield* itemsOf(value, depth - 1)
  else if (value instanceof JsonMap) yield* mapOf(value)
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

function* mapOf(map: JsonMap): Generator<string, undefined> {
  let fields: (readonly [string, unknown])[] = []
  let before = '{'
  const made = () => before + JSON.stringify(Object.fromEntries(fields)).slice(1, -1)
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

/** One with very many fields is a map of small things: it is not taken apart further. */
function* fieldsOf(value: object, depth: number): Generator<string, undefined> {
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  const step = fields.length > AT_ONCE ? AT_ONCE : 1
  yield '{'
  for (let first = 0; first < fields.length; first += step) {
    if (first > 0) yield ','
    const [name = '', field] = fields[first] ?? []
    if (step === 1) {
      yield `${JSON.stringify(name)}:`
      yield* partsOf(field, depth)
    } else yield JSON.stringify(Object.fromEntries(fields.slice(first, first + step))).slice(1, -1)
  }
  yield '}'
}
