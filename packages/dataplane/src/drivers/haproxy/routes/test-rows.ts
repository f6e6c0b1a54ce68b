import { createHash } from 'node:crypto'
import { type Automaton, compileRegex, parseRegex } from '@spout/model/regex'
import type { Test } from '@spout/plan/http-routes'

/** Characters of one row: a command with it fits into the proxy's buffer of 16 KiB. */
const MOST_CHARACTERS = 8_000

const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex')

/** A name that is a hash of the content, so that the rows under it never change. */
export const contentName = (letter: string, content: unknown): string =>
  `${letter}${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}`

/**
 * One test as a row's value, which `http-requests.lua` reads: whether it is inverted, its subject, how it compares, the
 * name in hexadecimal, and each value behind a dot. Regular expressions are names of automata.
 * @param automatonOf adds the rows of an expression and returns their name
 */
export function testText(test: Test, automatonOf: (pattern: string, anyCase: boolean) => string): string {
  const { on, not, values } = test
  const compare = 'compare' in test ? test.compare : on === 'source' ? 'within' : 'exact'
  const texts = values.map((value) => (compare === 'regex' ? automatonOf(value, on === 'host') : hex(value)))
  return `${not ? 1 : 0}:${on}:${compare}:${'name' in test ? hex(test.name) : ''}:${texts.map((text) => `.${text}`).join('')}`
}

/**
 * The rows of an automaton below its name: two hexadecimal digits for the class of each byte; whether a text may end,
 * by state; and the next states, four digits each, in pieces.
 * @throws RegexError for what the control plane refuses
 */
export function automatonRows(pattern: string, anyCase: boolean): readonly (readonly [key: string, value: string])[] {
  const { classes, classCount, next, ends }: Automaton = compileRegex(parseRegex(pattern, anyCase))
  const digits = (numbers: readonly number[], width: number): string =>
    numbers.map((number) => number.toString(16).padStart(width, '0')).join('')
  const table = digits(next, 4)
  const pieces = Array.from({ length: Math.ceil(table.length / MOST_CHARACTERS) }, (_, at) =>
    table.slice(at * MOST_CHARACTERS, (at + 1) * MOST_CHARACTERS),
  )
  return [
    ['width', String(classCount)],
    ['classes', digits(classes, 2)],
    ['ends', ends.map(Number).join('')],
    ...pieces.map((piece, at) => [String(at), piece] as const),
  ]
}
