import type { Principal } from '@spout/admission/contract'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { SeenConnectors } from './seen-connectors.ts'

const user = (number: number, projectId: string | null = 'p'): Principal => ({
  ...{ userId: `id-${number}`, userName: `user ${number}`, projectId, roles: ['balancer'], expiresAt: '' },
})

test('the last version of each user and project is kept', () => {
  const clock = new FakeClock()
  const seen = new SeenConnectors(clock)
  seen.note(user(1), 'spout-connector/0.1.0')
  seen.note(user(2), 'spout-connector/0.2.0-rc.1')
  seen.note(user(1, 'q'), 'spout-connector/0.1.0')
  seen.note(user(1), 'spout-connector/0.2.0')
  expect(seen.all().map(({ userName, projectId, version }) => [userName, projectId, version])).toEqual([
    ['user 2', 'p', '0.2.0-rc.1'],
    ['user 1', 'q', '0.1.0'],
    ['user 1', 'p', '0.2.0'],
  ])
  expect(seen.all()[0]?.lastSeenAt).toBe(clock.now().toISOString())
})

test.each([
  undefined,
  '',
  'node',
  'spout-connector/',
  'spout-connector/1.2',
  'spout-connector/1.2.3 x',
  'spout-connector/1.2.3-\u001b[2J',
])('another program is ignored: %j', (userAgent) => {
  const seen = new SeenConnectors(new FakeClock())
  seen.note(user(1), userAgent)
  expect(seen.all()).toEqual([])
})

test('there are never more than a thousand, and who called last stays', () => {
  const seen = new SeenConnectors(new FakeClock())
  for (let number = 0; number < 1500; number++) {
    seen.note(user(number), 'spout-connector/0.1.0')
    seen.note(user(0), 'spout-connector/0.1.0')
  }
  const names = seen.all().map(({ userName }) => userName)
  expect(names).toHaveLength(1000)
  expect(names.at(-1)).toBe('user 0')
  expect(names[0]).toBe('user 501')
})
