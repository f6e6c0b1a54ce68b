import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Automaton, compileRegex, matchesRegex } from './automaton.ts'
import { parseRegex } from './parse-regex.ts'

const matches = (pattern: string, text: string, anyCase = false): boolean =>
  matchesRegex(compileRegex(parseRegex(pattern, anyCase)), text)

const atoms = fc.constantFrom(
  'a',
  'b',
  '/',
  '.',
  '\\.',
  '\\d',
  '\\W',
  '[ab]',
  '[^a]',
  '[a-c/]',
  '^',
  '$',
  '\\x61',
  '(?:)',
)
const counts = fc.constantFrom('', '', '', '*', '+', '?', '*?', '{2}', '{1,3}', '{2,}', '{0,1}?')
const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small' },
    fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('|')),
  ),
  part: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(atoms, counts).map(([atom, count]) => (atom === '^' || atom === '$' ? atom : atom + count)),
    fc.tuple(tie('pattern'), counts).map(([inner, count]) => `(${inner})${count}`),
  ),
}))
const subject = fc
  .array(fc.constantFrom('a', 'b', 'c', '/', '.', '1', 'A', '-'), { maxLength: 8 })
  .map((all) => all.join(''))

const MOST_REPETITIONS = 6

/** The compiled expression; null if it is too large. */
function compiled(pattern: string, anyCase: boolean): Automaton | null {
  const node = parseRegex(pattern, anyCase)
  try {
    return compileRegex(node)
  } catch {
    return null
  }
}

describe('regular expressions', () => {
  test('match what those of JavaScript match', () => {
    fc.assert(
      fc.property(
        pattern,
        fc.array(subject, { minLength: 5, maxLength: 20 }),
        fc.boolean(),
        (text, subjects, anyCase) => {
          // With more nested repetitions JavaScript's backtracking takes minutes.
          fc.pre((text.match(/[*+{]/g) ?? []).length <= MOST_REPETITIONS)
          const reference = new RegExp(text, anyCase ? 'i' : '')
          const automaton = compiled(text, anyCase)
          fc.pre(automaton !== null)
          for (const one of subjects)
            expect(matchesRegex(automaton, one), `${text} on ${JSON.stringify(one)}`).toBe(reference.test(one))
        },
      ),
      { numRuns: 500 },
    )
  })

  test.each([
    ['^/api/v[0-9]+/', '/api/v12/x', true],
    ['^/api/v[0-9]+/', '/x/api/v12/x', false],
    ['(?i)CHROME', 'Mozilla Chrome/1', true],
    ['\\.(?:jpe?g|png)$', '/a.jpeg', true],
    ['\\.(jpe?g|png)$', '/a.jpegs', false],
    ['^(?P<id>[0-9a-f]{8})-(?<more>[0-9a-f]{4})$', '0123abcd-00ff', true],
    ['[]a]', ']', true],
    ['[a-]', '-', true],
    ['x{', 'x{', true],
    ['', '', true],
    ['^$', '', true],
    ['$^', '', true],
    ['$^', 'a', false],
    ['\\xe9', '\u00e9', true],
  ])('%s on %s: %s', (pattern, text, expected) => expect(matches(pattern, text)).toBe(expected))

  test.each([
    ['a)', 'has a ) without its (, at character 2'],
    ['(a', 'has a ( without its ), at character 3'],
    ['[a', 'has a [ without its ], at character 3'],
    ['*a', 'repeats nothing, at character 1'],
    ['a**', 'repeats a repetition, at character 4'],
    ['a++', 'has a possessive repetition, which is not supported, at character 4'],
    ['(a)\\1', 'has \\1, which is not supported, at character 5'],
    ['a\\', 'ends with \\, at character 3'],
    ['(?=a)', 'has a look-around or an option in a group, which is not supported, at character 3'],
    ['a{2,1}', 'has a repetition whose bounds are in the wrong order, at character 7'],
    ['a{1001}', 'repeats more than 1000 times, at character 8'],
    ['[z-a]', 'has a range in the wrong order, at character 5'],
    ['[\\d-z]', 'has a range that ends in a class, at character 6'],
    ['[[:alpha:]]', 'has a named class, which is not supported, at character 2'],
    ['\u20ac', 'has a character that is no byte, at character 1'],
    ['((a{1,500}){1,500}){1,500}', 'is too long with its repetitions written out'],
    ['a.{12}b', 'needs too large an automaton: count less, or begin with ^'],
    ['('.repeat(60) + ')'.repeat(60), 'has groups within more than 50 others, at character 52'],
  ])('%s is refused', (pattern, why) => expect(() => compileRegex(parseRegex(pattern))).toThrow(why))

  test('do not take longer for texts that make others explode', () => {
    const automaton = compileRegex(parseRegex('^(a+)+$'))
    expect(matchesRegex(automaton, `${'a'.repeat(100_000)}b`)).toBe(false)
  })
})
