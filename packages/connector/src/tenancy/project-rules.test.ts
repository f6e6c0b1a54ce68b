import { describe, expect, test } from 'vitest'
import { labelsOfRules, type ProjectRule, projectOfNamespace } from './project-rules.ts'

const rule = (project: string, more: Partial<ProjectRule> = {}): ProjectRule => ({
  project,
  namespaces: [],
  labels: null,
  isDefault: false,
  ...more,
})
const RULES = [
  rule('rest', { isDefault: true }),
  rule('shop', { namespaces: ['shop', 'checkout'] }),
  rule('blue', { labels: { team: 'blue', tier: 'front' } }),
  rule('late', { namespaces: ['late'] }),
]

describe('the project of a namespace', () => {
  test.each([
    ['by its name', 'checkout', {}, RULES, 'shop'],
    ['by its name, before its labels are known', 'checkout', null, RULES, 'shop'],
    ['by all labels of a rule', 'x', { team: 'blue', tier: 'front', other: '1' }, RULES, 'blue'],
    ['not by some of them', 'x', { team: 'blue' }, RULES, 'rest'],
    ['the first rule that fits', 'shop', { team: 'blue', tier: 'front' }, RULES, 'shop'],
    ['the order, not the kind of rule', 'late', { team: 'blue', tier: 'front' }, RULES, 'blue'],
    ['the default, wherever it stands', 'y', {}, RULES, 'rest'],
    ['a name of the prototype is no label', 'y', {}, [rule('a', { labels: { constructor: 'x' } })], null],
  ] as const)('%s', (_, name, labels, rules, project) => {
    expect(projectOfNamespace(name, labels, rules)).toEqual(
      project === null ? { type: 'none' } : { type: 'project', project },
    )
  })

  test('is undecided until the labels of an earlier rule are known', () => {
    expect(projectOfNamespace('late', null, RULES)).toEqual({ type: 'unknown' })
    expect(projectOfNamespace('y', null, RULES.slice(0, 2))).toEqual({ type: 'project', project: 'rest' })
  })

  test('labels that rules use', () => {
    expect(labelsOfRules([...RULES, rule('b', { labels: { team: 'b' } })])).toEqual(['team', 'tier'])
  })
})
