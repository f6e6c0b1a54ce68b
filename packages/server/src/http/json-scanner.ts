import { SpoutError } from '@spout/model'

/** Whether text may contain U+0000. Many programs end a text there, so it is refused unless text is passed through. */
export type NulInText = 'refused' | 'taken'

export interface JsonLimits {
  readonly nulInText: NulInText
  /** Limit of one text, name or number, in bytes as it was sent. */
  readonly mostTextBytes: number
  /** Limit of different names of fields, which take the parser much longer than names that it has seen. */
  readonly mostNames: number
  /** Limit of values of every kind, lists and objects included. */
  readonly mostValues: number
}

const MAX_DEPTH = 64
/** Names that could change every object of the process if parsed JSON is merged carelessly. */
const POISONOUS = new Set(['__proto__', 'constructor', 'prototype'])

const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const LETTER_U = 0x75
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const STRUCTURAL = new Uint8Array(256)
for (const byte of [QUOTE, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT]) STRUCTURAL[byte] = 1

/** The value of `#escape` right after a backslash. Lower values count the digits of `\uXXXX` that are still to come. */
const BEHIND_BACKSLASH = 5

interface Name {
  /** As it was sent. */
  readonly sent: Buffer
  readonly text: string
}

/** The place in an open list, or the latest name in an open object. */
type Place = number | Name | null

/**
 * Finds what would be dangerous or expensive to parse, in a JSON text that arrives in pieces. So a body is refused at
 * the first byte that is too much, and what is parsed has limits.
 *
 * The syntax is left to the parser. The scanner is exact for valid JSON, and other text will not be parsed anyway.
 */
export class JsonScanner {
  readonly #limits: JsonLimits
  /** Names by their hash, because making a string of each name takes as long as all the rest. */
  readonly #names = new Map<number, Name>()
  #differentNames = 0
  readonly #path: Place[] = []
  #values = 1
  /** Whether the next text is a name. */
  #beforeName = false
  #inText = false
  /** Bytes since the last structural character. */
  #textBytes = 0
  #escape = 0
  #isZero = false
  /** Earlier pieces of a name. */
  #nameParts: Buffer[] = []

  constructor(limits: JsonLimits) {
    this.#limits = limits
  }

  /**
   * @throws SpoutError MalformedJson for nesting beyond 64 levels and names that could reach a prototype; InvalidField
   * for what is beyond a limit, and for text with U+0000
   */
  take(piece: Buffer): void {
    let at = 0
    while (at < piece.length) {
      if (this.#inText) {
        at = this.#scanText(piece, at)
        continue
      }
      const from = at
      while (at < piece.length && STRUCTURAL[piece[at]!] === 0) at++
      this.#countText(at - from)
      if (at < piece.length) this.#scanStructure(piece[at++]!)
    }
  }

  #scanStructure(byte: number): void {
    this.#textBytes = 0
    switch (byte) {
      case QUOTE:
        this.#inText = true
        break
      case OPEN_OBJECT:
      case OPEN_LIST:
        this.#countValue()
        this.#path.push(byte === OPEN_OBJECT ? null : 0)
        if (this.#path.length > MAX_DEPTH) throw malformed(`it is nested deeper than ${MAX_DEPTH}`)
        this.#beforeName = byte === OPEN_OBJECT
        break
      case COMMA:
        this.#countValue()
        this.#nextPlace()
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.#path.pop()
        this.#beforeName = false
        break
      default:
        this.#beforeName = false
    }
  }

  #nextPlace(): void {
    const last = this.#path.length - 1
    const place = this.#path[last]
    this.#beforeName = last >= 0 && typeof place !== 'number'
    if (typeof place === 'number') this.#path[last] = place + 1
  }

  /** @returns the position behind the text, or behind the piece */
  #scanText(piece: Buffer, from: number): number {
    let at = from
    while (at < piece.length) {
      if (this.#escape > 0) this.#scanEscape(piece[at++]!)
      else {
        while (at < piece.length && piece[at] !== QUOTE && piece[at] !== BACKSLASH) at++
        if (piece[at] !== BACKSLASH) break
        this.#escape = BEHIND_BACKSLASH
        at++
      }
    }
    this.#countText(at - from)
    const isEnd = at < piece.length
    if (this.#beforeName) this.#takeName(piece.subarray(from, at), isEnd)
    if (!isEnd) return at
    this.#inText = false
    this.#textBytes = 0
    return at + 1
  }

  #scanEscape(byte: number): void {
    if (this.#escape === BEHIND_BACKSLASH) {
      this.#escape = byte === LETTER_U ? 4 : 0
      this.#isZero = true
      return
    }
    this.#escape--
    this.#isZero &&= byte === ZERO
    if (this.#escape === 0 && this.#isZero && this.#limits.nulInText === 'refused')
      throw this.#invalid('must not contain the character U+0000')
  }

  #takeName(part: Buffer, isEnd: boolean): void {
    if (!isEnd || this.#nameParts.length > 0) this.#nameParts.push(part)
    if (!isEnd) return
    const sent = this.#nameParts.length > 0 ? Buffer.concat(this.#nameParts.splice(0)) : part
    const hash = hashOf(sent)
    let name = this.#names.get(hash)
    if (name === undefined || !isSame(name.sent, sent)) {
      name = { sent, text: textOf(sent) }
      if (POISONOUS.has(name.text)) throw malformed(`the name ${name.text} is not allowed`)
      const { mostNames } = this.#limits
      if (++this.#differentNames > mostNames)
        throw this.#invalid(`is too much: a body has at most ${mostNames} different names`)
      this.#names.set(hash, name)
    }
    this.#path[this.#path.length - 1] = name
  }

  #countValue(): void {
    const { mostValues } = this.#limits
    if (++this.#values > mostValues) throw this.#invalid(`is too much: a body has at most ${mostValues} values`)
  }

  #countText(bytes: number): void {
    this.#textBytes += bytes
    const { mostTextBytes } = this.#limits
    if (this.#textBytes > mostTextBytes) throw this.#invalid(`must be at most ${mostTextBytes} bytes as JSON`)
  }

  #invalid(reason: string): SpoutError {
    // A name that is being read belongs to the object that it is in.
    const path = this.#beforeName ? this.#path.slice(0, -1) : this.#path
    const field = path.reduce<string>((text, place) => {
      if (typeof place === 'number') return `${text}[${place}]`
      return text === '' ? (place?.text ?? '') : `${text}.${place?.text}`
    }, '')
    return new SpoutError('InvalidField', { field: field || '(body)', reason })
  }
}

/** FNV-1a, as good as any where a collision costs nothing but the comparison. */
function hashOf(bytes: Buffer): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  return hash
}

function isSame(one: Buffer, other: Buffer): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

function textOf(sent: Buffer): string {
  const text = sent.toString()
  if (!text.includes('\\')) return text
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    throw malformed('it does not parse')
  }
}

export const malformed = (reason: string): SpoutError => new SpoutError('MalformedJson', { reason })
