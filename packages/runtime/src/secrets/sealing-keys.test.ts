import { expect, test } from 'vitest'
import { SealBroken, SealingKeys } from './sealing-keys.ts'

const OLD = SealingKeys.generate()
const NEW = SealingKeys.generate()
const keys = (...texts: readonly string[]) => SealingKeys.parse(texts.join('\n'))

test('what is sealed does not show the text, differs each time, and opens for its owner', () => {
  const one = keys(OLD)
  const sealed = one.seal('canary', 'owner')
  expect(Buffer.from(sealed.split('.')[2]!, 'base64').toString('latin1')).not.toContain('canary')
  expect(one.seal('canary', 'owner')).not.toBe(sealed)
  expect(one.open(sealed, 'owner')).toBe('canary')
})

test.each<[string, (sealed: string) => readonly [SealingKeys, string, string]]>([
  ['for another owner', (sealed) => [keys(OLD), sealed, 'another']],
  ['by another key', (sealed) => [keys(NEW), sealed, 'owner']],
  [
    'after a bit was turned',
    (sealed) => [keys(OLD), sealed.replace(/.(?=.{8}$)/, (c) => (c === 'A' ? 'B' : 'A')), 'owner'],
  ],
  ['cut off', (sealed) => [keys(OLD), sealed.slice(0, 20), 'owner']],
  [
    'under another key id',
    (sealed) => [
      keys(OLD, NEW),
      sealed.replace(/\.[0-9a-f]{8}\./, `.${keys(NEW).seal('', '').split('.')[1]}.`),
      'owner',
    ],
  ],
  ['that is no sealed text', () => [keys(OLD), 'canary', 'owner']],
])('does not open %s', (_what, of) => {
  const [one, text, owner] = of(keys(OLD).seal('canary', 'owner'))
  expect(() => one.open(text, owner)).toThrow(SealBroken)
})

test('a rotation: the first key seals, all open', () => {
  const before = keys(OLD).seal('canary', 'owner')
  const both = keys(NEW, OLD)
  expect(both.open(before, 'owner')).toBe('canary')
  expect(both.isNewest(before)).toBe(false)
  const after = both.seal('canary', 'owner')
  expect(both.isNewest(after)).toBe(true)
  expect(keys(NEW).open(after, 'owner')).toBe('canary')
})

test.each(['', 'abc', `${OLD} ${OLD.slice(1)}`, `${OLD}0`])('refuses keys %#, without quoting them', (text) => {
  const refused = () => SealingKeys.parse(text)
  expect(refused).toThrow(RangeError)
  if (text !== '') expect(refused).not.toThrow(text.slice(0, 3) === 'abc' ? 'abc' : OLD.slice(0, 8))
})
