import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const MODULE = join(import.meta.dirname, 'start-garbage.ts')

/** The heap in MB before and after, in a process of its own with this much garbage and this much live memory. */
function collected(garbageMb: number, heldMb: number): readonly [before: number, after: number] {
  const program = `
    const { collectStartGarbage } = await import(${JSON.stringify(MODULE)})
    const megabyte = Array.from({ length: 128 * 1024 - 8 }, (_, n) => n + 0.5)
    const fill = (mb) => Array.from({ length: mb }, () => megabyte.slice())
    const held = fill(${heldMb})
    fill(${garbageMb})
    const mb = () => process.memoryUsage().heapUsed / 2 ** 20
    const before = mb()
    collectStartGarbage()
    console.log(JSON.stringify([before, mb(), held.length, typeof globalThis.gc]))
  `
  const argv = ['--input-type=module', '--max-semi-space-size=64', '--eval', program]
  const [before, after, , gc] = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8' }))
  expect(gc).toBe('undefined')
  return [before, after]
}

test('unreferenced memory is given back', () => {
  const [before, after] = collected(20, 0)
  expect(after).toBeLessThan(before - 10)
})

test('a heap in use is left alone', () => {
  const [before, after] = collected(20, 100)
  expect(after).toBeGreaterThanOrEqual(before)
})
