import { expect, it } from 'vitest'
import { type LabelSelectorRequirement, selects } from './label-selector.ts'

const LABELS = { zone: 'edge', rack: '' }

it('no selector selects nothing, an empty one everything', () => {
  expect([selects(undefined, LABELS), selects({}, LABELS), selects({}, {})]).toEqual([false, true, true])
})

it.each<[LabelSelectorRequirement['operator'], string, readonly string[], boolean]>([
  ['In', 'zone', ['core', 'edge'], true],
  ['In', 'zone', ['core'], false],
  ['In', 'room', ['edge'], false],
  ['NotIn', 'zone', ['core'], true],
  ['NotIn', 'zone', ['edge'], false],
  ['NotIn', 'room', ['edge'], true],
  ['Exists', 'rack', [], true],
  ['Exists', 'room', [], false],
  ['DoesNotExist', 'rack', [], false],
  ['DoesNotExist', 'toString', [], true],
])('%s %s %j is %s', (operator, key, values, is) => {
  expect(selects({ matchExpressions: [{ key, operator, values }] }, LABELS)).toBe(is)
})

it('all parts must match', () => {
  const matchExpressions = [{ key: 'rack', operator: 'Exists' }] as const
  expect(selects({ matchLabels: { zone: 'edge' }, matchExpressions }, LABELS)).toBe(true)
  expect(selects({ matchLabels: { zone: 'core' }, matchExpressions }, LABELS)).toBe(false)
  expect(selects({ matchLabels: { zone: 'edge', rack: '1' } }, LABELS)).toBe(false)
})
