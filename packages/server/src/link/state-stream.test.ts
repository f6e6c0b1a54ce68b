import { Writable } from 'node:stream'
import type { NodeStates } from '@spout/admission/contract'
import { type Edit, edited, entryHash, type NodeStateEntry } from '@spout/model'
import { FakeClock } from '@spout/runtime/fake-clock'
import { describe, expect, test } from 'vitest'
import { StateStream } from './state-stream.ts'

const entry = (number: number, vlan = 1): NodeStateEntry => ({
  kind: 'domain',
  version: 1,
  key: `domain/${number}`,
  number,
  networkId: 'n',
  segment: { physicalNetwork: 'p', vlan },
  returnPath: 'snat',
  subnets: [],
  gateway: null,
})

/** A table of one node's entries that a test changes. */
class Table implements NodeStates {
  readonly held = new Map<string, NodeStateEntry>()
  listener: ((keys: readonly string[]) => void) | null = null
  ready() {
    return true
  }
  get(_node: string, key: string) {
    const found = this.held.get(key)
    return found ? { entry: found, hash: entryHash(found) } : null
  }
  *entries() {
    for (const [key, found] of this.held) yield { key, entry: found, hash: entryHash(found) }
  }
  onChange(_node: string, listener: (keys: readonly string[]) => void) {
    this.listener = listener
    return () => {
      this.listener = null
    }
  }
  put(...entries: NodeStateEntry[]) {
    for (const changed of entries) this.held.set(changed.key, changed)
    this.listener?.(entries.map((changed) => changed.key))
  }
  remove(key: string) {
    this.held.delete(key)
    this.listener?.([key])
  }
}

/** A reader that reads only when the test tells it to, and then everything. */
class Reader extends Writable {
  readonly lines: { type: string; key?: string; entry?: NodeStateEntry }[] = []
  writes = 0
  open = true
  #resume: (() => void) | null = null
  constructor() {
    super({ highWaterMark: 1 })
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void) {
    this.writes++
    for (const line of String(chunk).trim().split('\n')) this.lines.push(JSON.parse(line))
    if (this.open) done()
    else this.#resume = done
  }
  resume() {
    this.open = true
    this.#resume?.()
  }
  get words() {
    return this.lines.map(({ type, key, entry: sent }) => `${type} ${key ?? sent?.key ?? ''}`.trim())
  }
}

const start = (table: Table, open = true, takesEdits = true) => {
  const clock = new FakeClock()
  const reader = new Reader()
  reader.open = open
  const stream = new StateStream({ states: table, nodeId: 'node', out: reader, clock, takesEdits })
  return { clock, reader, stream, running: stream.run() }
}

describe('StateStream', () => {
  test('everything, then synced, then changes', async () => {
    const table = new Table()
    table.put(entry(1), entry(2))
    const { clock, reader, stream, running } = start(table)
    await clock.advance(0)
    expect(reader.words.slice(0, 3)).toEqual(['put domain/1', 'put domain/2', 'synced'])
    table.put(entry(3))
    table.remove('domain/1')
    await clock.advance(0)
    expect(reader.words.filter((word) => word !== 'heartbeat').slice(3)).toEqual(['put domain/3', 'delete domain/1'])
    stream.end()
    await running
    expect(table.listener).toBeNull()
    expect(clock.timers).toBe(0)
  })

  test('a heartbeat each second', async () => {
    const { clock, reader, stream, running } = start(new Table())
    await clock.advance(5000)
    expect(reader.words.filter((word) => word === 'heartbeat')).toHaveLength(6)
    stream.end()
    await running
  })

  test('what changes while a reader is slow is sent once, in its newest version', async () => {
    const table = new Table()
    table.put(entry(1))
    const { clock, reader, stream, running } = start(table, false)
    await clock.advance(0)
    for (let vlan = 2; vlan <= 1000; vlan++) table.put(entry(1, vlan))
    table.put(entry(2))
    table.remove('domain/2')
    await clock.advance(10_000)
    expect(reader.lines).toHaveLength(1)
    reader.resume()
    await clock.advance(0)
    expect(reader.words).toEqual(['put domain/1', 'synced', 'put domain/1', 'delete domain/2', 'heartbeat'])
    expect(reader.lines[2]?.entry).toEqual(entry(1, 1000))
    // The agent applies in one pass what arrives together: an address that moved is never without an entry.
    expect(reader.writes).toBe(3)
    stream.end()
    await running
  })

  test('a reader that goes ends the stream, also while it is slow', async () => {
    const table = new Table()
    table.put(entry(1), entry(2))
    const { clock, reader, running } = start(table, false)
    await clock.advance(0)
    reader.destroy()
    await running
    expect(table.listener).toBeNull()
    expect(clock.timers).toBe(0)
  })

  const large = (generation: number, members: number): NodeStateEntry =>
    ({
      ...{ kind: 'load-balancer', version: 1, key: 'lb/a', id: 'a', generation, domain: 1, vips: [], services: [] },
      pools: [{ id: 'p', members: MEMBERS.slice(0, members) }],
    }) as unknown as NodeStateEntry
  const MEMBERS = Array.from({ length: 1000 }, (_, at) => ({ id: `m${at}`, address: `10.0.0.${at}` }))

  test('domains and the group come before load balancers', async () => {
    const table = new Table()
    table.put(large(1, 1), entry(1))
    const { clock, reader, stream, running } = start(table)
    await clock.advance(0)
    expect(reader.words.slice(0, 3)).toEqual(['put domain/1', 'put lb/a', 'synced'])
    stream.end()
    await running
  })

  test.each([true, false])('of a large entry only edits, if the reader understands them: %s', async (takesEdits) => {
    const table = new Table()
    table.put(large(1, 900))
    const { clock, reader, stream, running } = start(table, true, takesEdits)
    await clock.advance(0)
    table.put(large(2, 901))
    await clock.advance(0)
    table.put(large(3, 10))
    await clock.advance(0)
    const lines = reader.lines.filter(({ type }) => type === 'put' || type === 'edit')
    expect(lines.map(({ type }) => type)).toEqual(takesEdits ? ['put', 'edit', 'edit'] : ['put', 'put', 'put'])
    if (takesEdits) {
      const [, one] = lines as unknown as { key: string; from: string; hash: string; edits: Edit[] }[]
      expect(one).toMatchObject({ key: 'lb/a', from: entryHash(large(1, 900)), hash: entryHash(large(2, 901)) })
      expect(edited(large(1, 900), one!.edits)).toEqual(large(2, 901))
      expect(JSON.stringify(one).length).toBeLessThan(400)
    } else expect(lines.at(-1)!.entry).toEqual(large(3, 10))
    stream.end()
    await running
  })
})
