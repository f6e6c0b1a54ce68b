import type { DataPlaneDriver, WantedEntry } from '@spout/dataplane'
import { describe, expect, test } from 'vitest'
import { DriverChoice } from './driver-choice.ts'
import { PreparedEntries } from './prepared-entries.ts'
import { domainEntry, loadBalancerEntry } from './testing/index.ts'
import { RecordedDriver, RecordedNode } from './testing/recorded-node.ts'

const domain = domainEntry(1)
const none: ReadonlySet<string> = new Set()
const wantedOf = (id: string): WantedEntry => {
  const entry = loadBalancerEntry(id)
  return { key: entry.key, hash: id, domain, entry, down: none }
}

class EagerDriver extends RecordedDriver implements DataPlaneDriver<string> {
  readonly told: string[] = []

  prepare(soon: readonly WantedEntry[]): void {
    this.told.push(...soon.map(({ key }) => key))
  }
}

const many = new Map(Array.from({ length: 100 }, (_, n) => wantedOf(`b${n}`)).map((wanted) => [wanted.key, wanted]))
const make = (key: string): WantedEntry | null => many.get(key) ?? null

describe('prepared entries', () => {
  test('drivers prepare the first keys, in order, and get the same objects later', async () => {
    const driver = new EagerDriver(new RecordedNode())
    const prepared = new PreparedEntries(new DriverChoice([driver]))
    const keys = ['lb/unknown', ...many.keys()]
    const preparing = prepared.begin(keys, 80, make)
    await expect.poll(() => driver.told.length).toBe(79)
    preparing.end()
    expect(driver.told).toEqual(keys.slice(1, 80))
    const told = many.get('lb/b7')!
    expect(prepared.take({ ...told })).toBe(told)
    const again = { ...told }
    expect(prepared.take(again)).toBe(again)
  })

  test.each([
    ['entry', { entry: loadBalancerEntry('b1', { generation: 2 }) }],
    ['domain', { domain: domainEntry(1) }],
    ['members that are down', { down: new Set(['m1']) }],
  ])('what has another %s is not what was prepared', async (_, change) => {
    const driver = new EagerDriver(new RecordedNode())
    const prepared = new PreparedEntries(new DriverChoice([driver]))
    const preparing = prepared.begin(['lb/b1'], 10, make)
    await expect.poll(() => driver.told).toEqual(['lb/b1'])
    preparing.end()
    const changed = { ...many.get('lb/b1')!, ...change }
    expect(prepared.take(changed)).toBe(changed)
  })

  test('nothing is prepared after the pass', async () => {
    const driver = new EagerDriver(new RecordedNode())
    const prepared = new PreparedEntries(new DriverChoice([driver]))
    prepared.begin(many.keys(), 80, make).end()
    await new Promise((resolve) => setImmediate(resolve))
    expect(driver.told).toEqual([])
  })
})
