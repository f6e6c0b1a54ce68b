import { GROUP_LABEL } from '@spout/custom-resources'
import type { LabelSelector } from '@spout/kube'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chosenGroup, type SelectingGroup } from './chosen-group.ts'

const INSIDE: SelectingGroup = { name: 'inside', nodeSelector: { matchLabels: { zone: 'inside' } } }
const EDGE: SelectingGroup = {
  name: 'edge',
  nodeSelector: { matchLabels: { zone: 'edge' }, matchExpressions: [{ key: 'balancer', operator: 'Exists' }] },
}
const TWIN: SelectingGroup = { name: 'also-inside', nodeSelector: { matchLabels: { zone: 'inside' } } }
const groupOf = (labels: Readonly<Record<string, string>>, present: string, groups = [INSIDE, EDGE]) =>
  chosenGroup(labels, present, groups).group

describe('a node belongs in', () => {
  it('the group that selects it, if all parts of the selector match', () => {
    expect(groupOf({ zone: 'inside' }, 'default')).toBe('inside')
    expect(groupOf({ zone: 'edge' }, 'default')).toBe('default')
    expect(groupOf({ zone: 'edge', balancer: '', rack: '7' }, 'default')).toBe('edge')
  })

  it('the group that its label names, whatever selects it', () => {
    const labels = { zone: 'inside', [GROUP_LABEL]: 'repair' }
    expect(chosenGroup(labels, 'default', [INSIDE, TWIN])).toEqual({ group: 'repair', selectedBy: [] })
  })

  it('the default group once its own does not select it any more', () => {
    expect(groupOf({}, 'inside')).toBe('default')
  })

  it('its present group if several select it, and says which', () => {
    for (const present of ['default', 'inside'])
      expect(chosenGroup({ zone: 'inside' }, present, [INSIDE, TWIN])).toEqual({
        group: present,
        selectedBy: ['also-inside', 'inside'],
      })
  })

  it('its present group if that has no selector and no other selects it', () => {
    expect(groupOf({ zone: 'elsewhere' }, 'by-hand')).toBe('by-hand')
  })
})

const KEYS = ['a', 'b', GROUP_LABEL]
const VALUES = ['x', 'y']
const NAMES = ['default', 'one', 'two', 'three']
const labels = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...NAMES, ...VALUES))
const requirement = fc.record({
  key: fc.constantFrom('a', 'b'),
  operator: fc.constantFrom('In' as const, 'NotIn' as const, 'Exists' as const, 'DoesNotExist' as const),
  values: fc.subarray(VALUES),
})
const nodeSelector: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom(...VALUES)),
  matchExpressions: fc.array(requirement, { maxLength: 2 }),
})
const groups = fc.uniqueArray(fc.record({ name: fc.constantFrom(...NAMES), nodeSelector }), {
  selector: ({ name }) => name,
})
const present = fc.constantFrom(...NAMES, 'by-hand')

it('any choice is final: a node that has moved stays, in whatever order the groups are', () => {
  fc.assert(
    fc.property(labels, present, groups, (of, from, all) => {
      const { group } = chosenGroup(of, from, all)
      expect(chosenGroup(of, group, all).group).toBe(group)
      expect(chosenGroup(of, from, all.toReversed())).toEqual(chosenGroup(of, from, all))
    }),
  )
})

it('the choice does not depend on where the node is, if its labels say where it belongs', () => {
  fc.assert(
    fc.property(labels, present, present, groups, (of, one, other, all) => {
      const choice = chosenGroup(of, one, all)
      fc.pre(of[GROUP_LABEL] !== undefined || choice.selectedBy.length === 1)
      expect(chosenGroup(of, other, all)).toEqual(choice)
    }),
  )
})
