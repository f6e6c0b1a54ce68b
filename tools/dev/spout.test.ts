import { expect, it } from 'vitest'
import { otherIdentity } from './spout.ts'

const account = (user: string, token: string) => ({ user, password: '', project: `of-${user}`, projectId: '', token })
const access = { endpoint: '', statusUrl: '', admin: account('admin', 'a'), projects: [account('alice', 'b')] }

it('says which account ran the command if not the administrator, and how to change it', () => {
  expect(otherIdentity(access, 'a')).toBeNull()
  expect(otherIdentity(access, 'b')).toBe(
    'this ran as alice of project of-alice, because SPOUT_TOKEN is set; for the administrator: eval "$(./dev env --admin)", or unset SPOUT_TOKEN',
  )
  expect(otherIdentity(access, 'stale')).toContain('SPOUT_TOKEN belongs to no account of the lab')
})
