import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, it } from 'vitest'
import { UnseenWrites } from './unseen-writes.ts'

const at = (resourceVersion: string, uid = 'u') => ({ metadata: { name: 'a', uid, resourceVersion } })

it('remembers a status until the cluster shows its version or a later one', () => {
  const writes = new UnseenWrites<string>(new FakeClock())
  writes.add(at('5'), 'new', '7')
  expect([writes.of(at('5')), writes.of(at('6'))]).toEqual(['new', 'new'])
  expect(writes.of(at('7'))).toBeNull()
  expect(writes.of(at('5'))).toBeNull()
})

it('does not wait for ever for a version that a restored server never shows', async () => {
  const clock = new FakeClock()
  const writes = new UnseenWrites<string>(clock)
  writes.add(at('5'), 'new', '7')
  await clock.advance(30_000)
  expect(writes.of(at('5'))).toBeNull()
})

it('knows objects by their UID, and forgets those that are gone', () => {
  const writes = new UnseenWrites<string>(new FakeClock())
  writes.add(at('5'), 'new', '7')
  expect(writes.of(at('5', 'another'))).toBeNull()
  writes.forget('u')
  expect(writes.of(at('5'))).toBeNull()
})
