import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from './run.ts'
import { WallClock } from './wall-clock.ts'

const HOUR_MS = 3_600_000
let clock: WallClock

beforeAll(async () => {
  clock = await WallClock.create()
})
afterAll(() => clock?.[Symbol.dispose]())

/** How far ahead of this process another one believes to be, in hours. */
const aheadOf = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> =>
  Math.round((Number(await must(argv, { env })) * 1000 - Date.now()) / HOUR_MS) + 0

it('jumps for the processes under test, and for nobody else', async () => {
  const date = ['date', '+%s']
  const node = [process.execPath, '-p', 'Date.now() / 1000']
  for (const hours of [0, 5, -7]) {
    clock.set(hours * HOUR_MS)
    expect(await aheadOf(date, clock.env)).toBe(hours)
    expect(await aheadOf(node, clock.env)).toBe(hours)
    expect(await aheadOf([clock.program('/bin/date'), '+%s'])).toBe(hours)
    expect(await aheadOf(date)).toBe(0)
  }
})

it('leaves the clocks alone that never jump', async () => {
  clock.set(5 * HOUR_MS)
  const uptime = Number(await must([process.execPath, '-p', 'process.hrtime()[0]'], { env: clock.env }))
  expect(uptime - process.hrtime()[0]).toBeLessThan(60)
})
