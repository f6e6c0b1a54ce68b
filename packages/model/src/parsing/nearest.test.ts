import { expect, it } from 'vitest'
import { nearest } from './nearest.ts'

const NAMES = ['name', 'port', 'protocol', 'members', 'monitor', 'algorithm'] as const

it('finds what was likely meant', () => {
  expect(nearest('nmae', NAMES, 3)).toBe('name')
  expect(nearest('Protocol', NAMES, 3)).toBe('protocol')
  expect(nearest('member', NAMES, 3)).toBe('members')
  expect(nearest('algoritm', NAMES, 3)).toBe('algorithm')
  expect(nearest('planed-mov', ['drain', 'planned-move'], Number.POSITIVE_INFINITY)).toBe('planned-move')
})

it('guesses nothing that is far away', () => {
  expect(nearest('xyz', NAMES, 3)).toBeNull()
  expect(nearest('name', [], 3)).toBeNull()
  expect(nearest('n'.repeat(1000), NAMES, 1000)).toBeNull()
})
