import { AddressSyntaxError, canonicalIp, formatCidr, parseCidr } from '@spout/net'
import { pythonText } from './python-text.ts'

/** A value of the wrong type. The message is that of wsme, Octavia's framework; the field adds its name. */
export class ValueRefused extends Error {
  override readonly name = 'ValueRefused'
}

/** A value that Octavia accepts and this service does not support. The message says why. */
export class ValueUnsupported extends Error {
  override readonly name = 'ValueUnsupported'
}

/** What reading a request needs besides its text: ids and the time for new objects. */
export interface Stamp {
  readonly newId: () => string
  /** RFC 3339 with milliseconds. */
  readonly now: string
  /** Whether attributes that only administrators write are accepted; for others they do not exist. */
  readonly byAdministrator: boolean
  /**
   * The results for objects in the body that were read before the whole body (`readingMembersAhead`). Default: none.
   */
  readonly ahead?: ReadonlyMap<unknown, unknown>
}

export interface At {
  /** Names of the enclosing objects, dotted, for faults about unknown attributes. */
  readonly path: string
  readonly stamp: Stamp
}

/** How JSON values of an attribute are read. Null is never passed: the field decides what null means. */
export interface WireType<T> {
  /** @throws ValueRefused, ValueUnsupported; OctaviaFault from nested objects */
  read(value: unknown, at: At): T
  /** Normalizes a query parameter for comparison with a printed value; left out: unchanged. */
  readonly queryText?: (text: string) => string
}

interface TextRules {
  readonly max?: number
  readonly min?: number
  readonly pattern?: RegExp
  /** Replaces wsme's message about the pattern. */
  readonly patternMessage?: string
}

export const text = (rules: TextRules = {}): WireType<string> => ({
  read(value) {
    if (typeof value !== 'string') throw new ValueRefused('Value should be string')
    // Python counts code points, not UTF-16 units.
    const length = [...value].length
    if (rules.min !== undefined && length < rules.min)
      throw new ValueRefused(`Value should have a minimum character requirement of ${rules.min}`)
    if (rules.max !== undefined && length > rules.max)
      throw new ValueRefused(`Value should have a maximum character requirement of ${rules.max}`)
    if (rules.pattern !== undefined && !rules.pattern.test(value))
      throw new ValueRefused(rules.patternMessage ?? `Value should match the pattern ${rules.pattern.source}`)
    return value
  },
})

/** Python's `int()` of a JSON value; clients send numbers as strings. */
function pythonInt(value: unknown): number {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return Math.trunc(value)
  const digits = typeof value === 'string' ? value.trim() : ''
  if (/^[+-]?\d{1,15}$/.test(digits)) return Number(digits)
  throw new ValueRefused(
    `invalid literal for int() with base 10: ${typeof value === 'string' ? `'${pythonText(value)}'` : pythonText(value)}`,
  )
}

export const integer = (min?: number, max?: number): WireType<number> => ({
  read(value) {
    const number = pythonInt(value)
    if (min !== undefined && number < min) throw new ValueRefused(`Value should be greater or equal to ${min}`)
    if (max !== undefined && number > max) throw new ValueRefused(`Value should be lower or equal to ${max}`)
    return number
  },
})

const TRUE_WORDS: readonly unknown[] = ['true', 't', 'yes', 'y', 'on', '1']
const FALSE_WORDS: readonly unknown[] = ['false', 'f', 'no', 'n', 'off', '0']

export const boolean: WireType<boolean> = {
  read(value) {
    if (typeof value === 'boolean') return value
    if (typeof value === 'number') return value !== 0
    if (TRUE_WORDS.includes(value)) return true
    if (FALSE_WORDS.includes(value)) return false
    throw new ValueRefused(`Value not an unambiguous boolean: ${pythonText(value)}`)
  },
  queryText: (word) => String(TRUE_WORDS.includes(word.toLowerCase())),
}

/** Adds the dashes to `6a0a707c45ef4758b533e55adddba8ce`; any other text stays as it is. */
export function dashedUuid(value: string): string {
  const hex = value.toLowerCase().replaceAll('-', '')
  if (!/^[0-9a-f]{32}$/.test(hex)) return value
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export const uuid: WireType<string> = {
  read(value) {
    const dashed = typeof value === 'string' ? dashedUuid(value) : ''
    if (!/^[0-9a-f]{8}-/.test(dashed) || dashed.length !== 36) throw new ValueRefused('Value should be UUID format')
    return dashed
  },
  queryText: dashedUuid,
}

/** Parses only strings: converting another JSON value would run its `toString`. */
const parsedText = <T>(value: unknown, parse: (text: string) => T, message: string): T => {
  if (typeof value !== 'string') throw new ValueRefused(message)
  try {
    return parse(value)
  } catch (error) {
    if (error instanceof AddressSyntaxError) throw new ValueRefused(message)
    throw error
  }
}

const canonicalIpOr = (value: string): string => {
  try {
    return canonicalIp(value)
  } catch {
    return value
  }
}

/** An address in canonical text. */
export const ipAddress: WireType<string> = {
  read: (value) => parsedText(value, canonicalIp, 'Value should be IPv4 or IPv6 format'),
  queryText: canonicalIpOr,
}

/** A prefix in canonical text: host bits cleared, a bare address becomes a full-length prefix. */
export const cidr: WireType<string> = {
  read: (value) =>
    parsedText(
      value,
      (prefix) => {
        const full = prefix.includes(':') ? 128 : 32
        return formatCidr(parseCidr(prefix.includes('/') ? prefix : `${prefix}/${full}`, 'clear'))
      },
      'Value should be IPv4 or IPv6 CIDR format',
    ),
}

export const oneOf = <const T extends string>(values: readonly T[]): WireType<T> => ({
  read(value) {
    const found = values.find((one) => one === value)
    if (found === undefined) throw new ValueRefused(`Value should be one of: ${values.join(', ')}`)
    return found
  },
})

/** A number that must be one of a few, such as an HTTP version; Python prints `1.0` where JSON has `1`. */
export const numberOneOf = (values: readonly number[], decimals: number): WireType<number> => ({
  read(value) {
    const number = typeof value === 'string' ? Number(value) : value
    const found = values.find((one) => one === number)
    if (found === undefined)
      throw new ValueRefused(`Value should be one of: ${values.map((one) => one.toFixed(decimals)).join(', ')}`)
    return found
  },
  queryText: (number) => String(Number(number)),
})

export const list = <T>(item: WireType<T>, max = 10_000): WireType<readonly T[]> => ({
  read(value, at) {
    if (!Array.isArray(value)) throw new ValueRefused(`Value not a valid list: ${pythonText(value)}`)
    if (value.length > max) throw new ValueRefused(`Value should have at most ${max} items`)
    return value.map((one: unknown) => item.read(one, at))
  },
})

/** A map of strings, such as headers to insert. Clients send booleans too. */
export const textMap: WireType<ReadonlyMap<string, string>> = {
  read(value, at) {
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      throw new ValueRefused(`Value not a valid dict: ${pythonText(value)}`)
    const item = text({ max: 255 })
    return new Map(
      Object.entries(value).map(([key, one]: [string, unknown]) => [
        key,
        typeof one === 'boolean' ? String(one) : item.read(one, at),
      ]),
    )
  },
}

/** The same type for a field in which JSON null means a value of its own (the field's `ifNull` or `default`). */
export const nullable = <T>(type: WireType<T>): WireType<T | null> => type

/** A type of which only some values are supported; Octavia's other values are answered 501 with `reason`. */
export const offered = <T, S extends T>(
  type: WireType<T>,
  isOffered: (value: T) => value is S,
  reason: string,
): WireType<S> => ({
  ...type,
  read(value, at) {
    const known = type.read(value, at)
    if (!isOffered(known)) throw new ValueUnsupported(reason)
    return known
  },
})
