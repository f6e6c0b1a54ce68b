import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { LinkDamping } from './link-damping.ts'
import type { ShardStateName } from './mover-state.ts'

const DAMP_MS = 60_000
let directory: string
let file: string
let clock: FakeClock
let damping: LinkDamping

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spout-damping-'))
  file = join(directory, 'damped')
  clock = new FakeClock()
  damping = new LinkDamping({ file, clock, dampMs: DAMP_MS })
  damping.prepare()
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const look = (states: readonly ShardStateName[], gaveUp: readonly number[] = []) =>
  damping.look(
    states.map((state, index) => ({ shard: index + 1, state })),
    (shard) => gaveUp.includes(shard),
  )
const written = () => readFileSync(file, 'utf8')

it('begins when the link is lost and ends when it has been up for long enough', async () => {
  look(['master', 'backup'])
  expect(written()).toBe('0\n')
  look(['fault', 'fault'])
  expect(written()).toBe('-32\n')
  await clock.advance(10 * DAMP_MS)
  expect(damping.damped).toBe(true)
  look(['backup', 'backup'])
  await clock.advance(DAMP_MS - 1)
  expect(damping.damped).toBe(true)
  await clock.advance(1)
  expect(written()).toBe('0\n')
})

it('begins anew with each flap', async () => {
  look(['master', 'backup'])
  for (let flap = 0; flap < 5; flap++) {
    look(['fault', 'fault'])
    look(['backup', 'backup'])
    await clock.advance(DAMP_MS - 1)
    expect(damping.damped).toBe(true)
  }
  await clock.advance(1)
  expect(damping.damped).toBe(false)
})

it('does not begin for shards that the node gave up itself, or that start in fault', async () => {
  look(['fault', 'fault'])
  look(['backup', 'master'])
  look(['backup', 'fault'], [2])
  look(['backup', 'fault'])
  look(['backup', 'backup'])
  expect(damping.damped).toBe(false)
})

it('goes on with the next agent', async () => {
  look(['master'])
  look(['fault'])
  damping.close()
  damping = new LinkDamping({ file, clock, dampMs: DAMP_MS })
  damping.prepare()
  expect(damping.damped).toBe(true)
  look(['backup'])
  await clock.advance(DAMP_MS)
  expect(damping.damped).toBe(false)
})
