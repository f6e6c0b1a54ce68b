import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sampleMember, samplePool } from '../../../testing/haproxy/sample-entry.ts'
import { KnownBackends } from './known-backends.ts'
import { renderBackend } from './render-backend.ts'

const TIMEOUTS = { connectMs: 5_000, memberMs: 50_000 }
const UP: ReadonlySet<string> = new Set()

it('has the same backend for a pool as long as nothing about it changes', () => {
  const known = new KnownBackends()
  const [one, other] = [samplePool(1), samplePool(2)]
  const backend = known.render(one, 'http', TIMEOUTS, UP)
  known.render(other, 'http', TIMEOUTS, UP)
  // Members of other pools may go down.
  expect(known.render(one, 'http', { ...TIMEOUTS }, new Set(['m8', 'm9']))).toBe(backend)
  expect(known.render({ ...one }, 'http', TIMEOUTS, UP)).not.toBe(backend)
})

it('renders as without memory, whatever changes', () => {
  const pools = [1, 2].map((number) =>
    samplePool(number, { members: [sampleMember(1), null, sampleMember(2), sampleMember(3, { weight: 0 })] }),
  )
  const known = new KnownBackends()
  const look = fc.record({
    pool: fc.constantFrom(...pools),
    mode: fc.constantFrom('http' as const, 'tcp' as const),
    connectMs: fc.constantFrom(1_000, 5_000),
    memberMs: fc.constantFrom(1_000, 50_000),
    down: fc.subarray(['m1', 'm2', 'm3', 'm4']),
  })
  fc.assert(
    fc.property(look, ({ pool, mode, connectMs, memberMs, down }) => {
      const given = [pool, mode, { connectMs, memberMs }, new Set(down)] as const
      expect(known.render(...given)).toEqual(renderBackend(...given))
    }),
  )
})
