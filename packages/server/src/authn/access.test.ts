import type { Principal } from '@spout/admission/contract'
import type { Role } from '@spout/model'
import { expect, test } from 'vitest'
import { isAdmin, requireRole } from './access.ts'

const principal = (roles: readonly Role[], projectId: string | null = 'p1'): Principal => ({
  userId: 'u1',
  userName: 'alice',
  projectId,
  roles,
  expiresAt: '2026-01-01T00:00:00Z',
})

test('a missing role is named, with those that the token has', () => {
  const refused = (roles: readonly Role[], wanted: Role) => () => requireRole(principal(roles), wanted)
  expect(refused(['member', 'reader'], 'admin')).toThrow('the role admin is needed, the token has member, reader')
  expect(refused(['balancer'], 'member')).toThrow('the role member is needed, the token has balancer')
  expect(refused([], 'reader')).toThrow('the role reader is needed, the token has none')
  expect(refused(['admin', 'member', 'reader'], 'admin')).not.toThrow()
  expect(refused(['member', 'reader'], 'balancer')).not.toThrow()
})

test('a token without a project has no access, whatever its roles', () => {
  expect(() => requireRole(principal(['admin'], null), 'reader')).toThrow('the token has no project')
})

test('roles of the Octavia API count for less elsewhere', () => {
  const allowed = (role: Role, wanted: Role) => {
    try {
      requireRole(principal([role]), wanted)
      return true
    } catch {
      return false
    }
  }
  const wanted = ['reader', 'balancer', 'member', 'admin'] as const
  const powers = (role: Role) => wanted.filter((one) => allowed(role, one))
  expect(powers('load-balancer_member')).toEqual(['reader', 'balancer', 'member'])
  for (const role of ['admin', 'quota_admin', 'global_observer', 'observer'] as const)
    expect(powers(`load-balancer_${role}`)).toEqual(['reader'])
  expect(isAdmin(principal(['load-balancer_admin']))).toBe(false)
})
