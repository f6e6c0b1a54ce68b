import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MoverTable, parseTable, printTable, rowKey } from './mover-table.ts'

const row = fc.record({
  shard: fc.integer({ min: 1, max: 16 }),
  address: fc.oneof(fc.ipV4(), fc.constantFrom('fd09::200', 'fd01::1')),
  netns: fc.constantFrom(null, '/run/netns/n1-d1', '/run/netns/n1-d77'),
  dev: fc.constantFrom('fab0', 'segment'),
})
const table = fc.record({
  generation: fc.nat(),
  freezeMs: fc.integer({ min: 1, max: 100_000 }),
  routers: fc
    .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 1, max: 255 })), {
      selector: ([shard]) => shard,
    })
    .map((pairs) => new Map(pairs)),
  rows: fc.array(row, { maxLength: 20 }).map((rows) => new Map(rows.map((each) => [rowKey(each), each]))),
})

describe('the table of the mover', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(table, (given: MoverTable) => {
        expect(parseTable(printTable(given))).toEqual(given)
      }),
    )
  })

  it('is a line for each thing', () => {
    const rows = [
      { shard: 1, address: '10.9.0.200', netns: null, dev: 'fab0' },
      { shard: 2, address: 'fd01::200', netns: '/run/netns/n1-d1', dev: 'segment' },
    ].map((each) => [rowKey(each), each] as const)
    expect(printTable({ generation: 7, freezeMs: 80, routers: new Map([[1, 61]]), rows: new Map(rows) })).toBe(
      'generation 7\nfreeze 80\nrouter 1 61\n1 10.9.0.200 - fab0\n2 fd01::200 /run/netns/n1-d1 segment\n',
    )
  })

  it('is nothing when it is not whole', () => {
    for (const text of ['', 'generation 7', 'freeze 80\n', 'generation x\n']) expect(parseTable(text)).toBeNull()
  })
})
