import { expect, it } from 'vitest'
import { nearest } from './nearest.ts'

const NAMES = ['name', 'port', 'protocol', 'members', 'monitor', 'algorithm'] as const

it('finds what was likely meant', () => {
  expect(nearest('nmae', NAMES)).toBe('name')
  expect(nearest('Protocol', NAMES)).toBe('protocol')
  expect(nearest('member', NAMES)).toBe('members')
  expect(nearest('algoritm', NAMES)).toBe('algorithm')
})

it('guesses nothing that is far away', () => {
  expect(nearest('xyz', NAMES)).toBeNull()
  expect(nearest('', NAMES)).toBeNull()
  expect(nearest('name', [])).toBeNull()
})
