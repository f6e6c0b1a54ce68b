import { expect, it } from 'vitest'
import { expiryAfter, hasCredentials, rolesToPassOn } from './credential-draft.ts'

it('a credential expires after its days, or never', () => {
  const now = Date.parse('2026-11-29T12:00:00.000Z')
  expect(expiryAfter(30, now)).toBe('2026-12-29T12:00:00.000Z')
  expect(expiryAfter(null, now)).toBeNull()
})

it('a user passes on what the user has, and members also the role that only balances', () => {
  expect(rolesToPassOn(['member', 'reader'])).toEqual(['member', 'balancer', 'reader'])
  expect(rolesToPassOn(['reader'])).toEqual(['reader'])
  expect(rolesToPassOn(['admin', 'member', 'reader'])).toEqual(['member', 'balancer', 'reader', 'admin'])
  expect(rolesToPassOn(['load-balancer_observer'])).toEqual(['load-balancer_observer'])
})

it('who may only balance has none', () => {
  expect(hasCredentials(['balancer'])).toBe(false)
  expect(hasCredentials([])).toBe(false)
  expect(hasCredentials(['balancer', 'reader'])).toBe(true)
})
