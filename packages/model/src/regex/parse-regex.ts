import { RegexError, type RegexNode } from './regex-node.ts'

/** Limit of counted repetitions, as in RE2. */
const MOST_COUNT = 1_000
/** Limit of nested groups. */
const MOST_DEPTH = 50

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)
const code = (character: string): number => character.charCodeAt(0)
const between = (from: string, to: string): readonly number[] => range(code(from), code(to))
const without = (bytes: Iterable<number>): ReadonlySet<number> => {
  const left = new Set(range(0, 255))
  for (const byte of bytes) left.delete(byte)
  return left
}

const DIGITS = new Set(between('0', '9'))
const WORDS = new Set([...between('0', '9'), ...between('A', 'Z'), ...between('a', 'z'), code('_')])
const SPACES = new Set([...'\t\n\v\f\r '].map(code))
const CLASSES: Readonly<Record<string, ReadonlySet<number>>> = {
  d: DIGITS,
  D: without(DIGITS),
  w: WORDS,
  W: without(WORDS),
  s: SPACES,
  S: without(SPACES),
}
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 }
const ANY_BUT_LINE_END = without([10])

/**
 * Parses a regular expression of the subset that an automaton can decide in one pass, like RE2's: literals, `.`,
 * classes, groups, `|`, `* + ? {n,m}` and their lazy forms, `^`, `$`, `\d \w \s \D \W \S`, `\xHH`, and `(?i)` at the
 * beginning. Groups do not capture. Back references, look-arounds, word boundaries and possessive forms are refused.
 * @param anyCase letters stand for both cases, as with `(?i)`
 * @throws RegexError with the position
 */
export function parseRegex(text: string, anyCase = false): RegexNode {
  const ignoresCase = text.startsWith('(?i)')
  return new Parser(text, ignoresCase ? 4 : 0, anyCase || ignoresCase).parse()
}

class Parser {
  readonly #text: string
  readonly #anyCase: boolean
  #at: number
  #depth = 0

  constructor(text: string, at: number, anyCase: boolean) {
    this.#text = text
    this.#at = at
    this.#anyCase = anyCase
  }

  parse(): RegexNode {
    const node = this.#choice()
    if (this.#at < this.#text.length) throw this.#error('has a ) without its (')
    return node
  }

  #error(why: string): RegexError {
    return new RegexError(`${why}, at character ${this.#at + 1}`)
  }

  get #next(): string {
    return this.#text[this.#at] ?? ''
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match !== null) this.#at = pattern.lastIndex
    return match
  }

  #choice(): RegexNode {
    const of = [this.#sequence()]
    while (this.#take('|')) of.push(this.#sequence())
    return of.length === 1 ? of[0]! : { is: 'choice', of }
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = []
    while (this.#next !== '' && this.#next !== '|' && this.#next !== ')') parts.push(this.#repeated())
    return parts.length === 1 ? parts[0]! : { is: 'sequence', parts }
  }

  #repeated(): RegexNode {
    const part = this.#atom()
    const counts = this.#counts()
    if (counts === null) return part
    if (this.#take('+')) throw this.#error('has a possessive repetition, which is not supported')
    // A lazy form is the same here: only whether there is a match counts, not which one.
    this.#take('?')
    if (this.#counts() !== null) throw this.#error('repeats a repetition')
    return { is: 'repeat', part, ...counts }
  }

  #counts(): { readonly least: number; readonly most: number | null } | null {
    if (this.#take('*')) return { least: 0, most: null }
    if (this.#take('+')) return { least: 1, most: null }
    if (this.#take('?')) return { least: 0, most: 1 }
    const counts = this.#match(/\{(\d+)(,?)(\d*)\}/y)
    if (counts === null) return null
    const least = Number(counts[1])
    const most = counts[2] === '' ? least : counts[3] === '' ? null : Number(counts[3])
    if (Math.max(least, most ?? 0) > MOST_COUNT) throw this.#error(`repeats more than ${MOST_COUNT} times`)
    if (most !== null && most < least) throw this.#error('has a repetition whose bounds are in the wrong order')
    return { least, most }
  }

  #atom(): RegexNode {
    if (this.#take('^')) return { is: 'begin' }
    if (this.#take('$')) return { is: 'end' }
    if (this.#take('.')) return { is: 'byte', of: ANY_BUT_LINE_END }
    if (this.#take('[')) return { is: 'byte', of: this.#class() }
    if (this.#take('(')) return this.#group()
    if ('*+?'.includes(this.#next)) throw this.#error('repeats nothing')
    return { is: 'byte', of: this.#inCases(this.#escape() ?? this.#literal()) }
  }

  #group(): RegexNode {
    if (this.#take('?') && !this.#take(':') && this.#match(/P?<[A-Za-z_]\w*>/y) === null)
      throw this.#error('has a look-around or an option in a group, which is not supported')
    if (++this.#depth > MOST_DEPTH) throw this.#error(`has groups within more than ${MOST_DEPTH} others`)
    const node = this.#choice()
    if (!this.#take(')')) throw this.#error('has a ( without its )')
    this.#depth--
    return node
  }

  /** Parses what follows a backslash; null when there is no backslash. */
  #escape(): ReadonlySet<number> | null {
    if (!this.#take('\\')) return null
    const byte = this.#match(/x([0-9A-Fa-f]{2})/y)
    if (byte !== null) return new Set([Number.parseInt(byte[1]!, 16)])
    const character = this.#next
    this.#at++
    const known = CLASSES[character] ?? (CONTROLS[character] === undefined ? null : new Set([CONTROLS[character]]))
    if (known !== null) return known
    if (!/^[!-/:-@[-`{-~]$/.test(character)) {
      this.#at--
      throw this.#error(character === '' ? 'ends with \\' : `has \\${character}, which is not supported`)
    }
    return new Set([code(character)])
  }

  #literal(): ReadonlySet<number> {
    const character = this.#next
    if (code(character) > 255) throw this.#error('has a character that is no byte')
    this.#at++
    return new Set([code(character)])
  }

  #class(): ReadonlySet<number> {
    const inverted = this.#take('^')
    const bytes = new Set<number>()
    for (let first = true; first || !this.#take(']'); first = false) {
      if (this.#next === '') throw this.#error('has a [ without its ]')
      if (this.#text.startsWith('[:', this.#at)) throw this.#error('has a named class, which is not supported')
      const from = this.#escape() ?? this.#literal()
      const isRange = this.#next === '-' && this.#text[this.#at + 1] !== ']'
      for (const byte of isRange ? this.#range(from) : from) bytes.add(byte)
    }
    const all = this.#inCases(bytes)
    return inverted ? without(all) : all
  }

  #range(from: ReadonlySet<number>): readonly number[] {
    this.#at++
    if (this.#next === '') throw this.#error('has a [ without its ]')
    const to = this.#escape() ?? this.#literal()
    if (from.size > 1 || to.size > 1) throw this.#error('has a range that ends in a class')
    const [[low], [high]] = [[...from], [...to]] as [[number], [number]]
    if (high < low) throw this.#error('has a range in the wrong order')
    return range(low, high)
  }

  #inCases(bytes: ReadonlySet<number>): ReadonlySet<number> {
    if (!this.#anyCase) return bytes
    const texts = [...bytes].map((byte) => String.fromCharCode(byte)).filter((text) => /[a-zA-Z]/.test(text))
    return new Set([...bytes, ...texts.flatMap((text) => [code(text.toLowerCase()), code(text.toUpperCase())])])
  }
}
