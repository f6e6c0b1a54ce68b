import type { Principal } from '@spout/admission/contract'
import type { Role } from '@spout/model'
import { expect, test } from 'vitest'
import { requireRole } from './access.ts'

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
