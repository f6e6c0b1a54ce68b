import { createHash } from 'node:crypto'
import type { NftChange, NftElements } from '@spout/sys'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GENERATION_MAP } from '../../nft/generation.ts'
import { PackedRecords } from './packed-records.ts'
import { pack } from './registers.ts'
import type { Rendered } from './rendered.ts'
import { identityBytes, recordBytes, SETS, type SetName, type SetShape, SPREADING_SETS } from './sets.ts'
import { TableContent } from './table-content.ts'

const RUNS = byLength(30, 100)

/** Elements as strictly as the kernel takes them: no second value for a key, no deletion of what is absent. */
class KernelModel {
  readonly sets = new Map<string, Map<string, string>>()

  apply(changes: readonly NftChange[]): void {
    for (const change of changes) {
      if (change.do === 'flush') this.sets.delete(change.set)
      else for (const [key, data] of recordsOf(change)) this.#change(change, key, data)
    }
  }

  #change(change: NftElements, key: string, data: string): void {
    const elements = this.sets.get(change.set) ?? new Map<string, string>()
    this.sets.set(change.set, elements)
    if (change.do === 'add') {
      if (elements.has(key) && elements.get(key) !== data) throw new Error(`EEXIST ${change.set}`)
      elements.set(key, data)
    } else if (!elements.delete(key)) throw new Error(`ENOENT ${change.set}`)
  }

  contents(): Record<string, [string, string][]> {
    const sets = [...this.sets].filter(([name, elements]) => elements.size > 0 && name !== GENERATION_MAP)
    return Object.fromEntries(sets.map(([name, elements]) => [name, [...elements].sort()]))
  }
}

function* recordsOf(change: NftElements): Generator<[string, string]> {
  const shape: SetShape =
    change.set === GENERATION_MAP ? { ...SETS.limits, dataBytes: 16, countOver: false } : SETS[change.set as SetName]
  const identity = identityBytes(shape)
  const size = change.do === 'add' ? recordBytes(shape) : identity
  const bytes = Buffer.from(change.elements)
  for (let at = 0; at < bytes.length; at += size)
    yield [bytes.toString('hex', at, at + identity), bytes.toString('hex', at + identity, at + size)]
}

const address = (value: number) => ({ address: { version: 4, value: BigInt(value) } as const })

/** A small world: few keys, so that entries meet and values change. */
const rendered = (key: string) =>
  fc
    .record({
      slots: fc.dictionary(fc.integer({ min: 0, max: 7 }).map(String), fc.integer({ min: 1, max: 4 }), { maxKeys: 8 }),
      reverse: fc.dictionary(fc.integer({ min: 1, max: 3 }).map(String), fc.integer({ min: 1, max: 3 }), {
        maxKeys: 3,
      }),
    })
    .map(({ slots, reverse }): Rendered => {
      const pool = key.charCodeAt(0)
      const member4 = Object.entries(slots).map(([slot, to]) =>
        pack({ mark: pool }, { mark: Number(slot) }, address(to), { port: 80 }),
      )
      const reverse4 = Object.entries(reverse).map(([member, vip]) =>
        pack(address(Number(member)), { transport: 'tcp' }, { port: 80 }, { mark: vip }),
      )
      const records = new PackedRecords(
        new Map<SetName, readonly Buffer[]>([
          ['member4', member4],
          ['reverse4', reverse4],
        ]),
      )
      const hash = createHash('sha256').update(
        Buffer.concat([Buffer.from(`${key} ${member4.length}`), ...member4, ...reverse4]),
      )
      const digest = BigInt(`0x${hash.digest('hex').slice(0, 32)}`)
      return {
        key,
        loadBalancerId: key,
        domain: 1,
        table: 'translating',
        remotes: [],
        services: [],
        records,
        digest,
        spread: null,
      }
    })

const change = fc
  .constantFrom('a', 'b', 'c')
  .chain((key) => fc.option(rendered(key)).map((entry): [string, Rendered | null] => [key, entry]))

describe('TableContent', () => {
  it('gets by changes to what a full load gives', () => {
    const batches = fc.array(fc.uniqueArray(change, { selector: ([key]) => key, minLength: 1 }), { maxLength: 12 })
    fc.assert(
      fc.property(batches, (batches) => {
        const kernel = new KernelModel()
        const content = new TableContent()
        for (const batch of batches) {
          const plan = content.plan(batch)
          kernel.apply(plan.changes)
          plan.accept()
          const whole = new TableContent().plan([...content.entries])
          const fresh = new KernelModel()
          fresh.apply(whole.changes)
          expect(kernel.contents()).toEqual(fresh.contents())
          expect(content.generation).toBe(whole.generation)
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('has nothing to do for what is there', () => {
    fc.assert(
      fc.property(rendered('a'), (entry) => {
        const content = new TableContent()
        content.plan([['a', entry]]).accept()
        expect(content.plan([['a', { ...entry }]]).changes).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  it('remembers nothing of a plan that is not accepted', () => {
    fc.assert(
      fc.property(rendered('a'), rendered('a'), (first, second) => {
        const content = new TableContent()
        content.plan([['a', first]]).accept()
        content.plan([['a', second]])
        expect(content.entries.get('a')).toBe(first)
        expect(content.plan([['a', first]]).changes).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  it('empties what an earlier agent saw before it adds what it saw itself', () => {
    const slot = (number: number) => pack({ mark: 5 }, { mark: number })
    const seen = (digest: bigint, ...former: readonly (readonly [slot: number, host: number])[]): Rendered => ({
      ...{
        key: 'a',
        loadBalancerId: 'a',
        domain: 1,
        table: 'spreading',
        remotes: [],
        services: [],
        spread: null,
        digest,
      },
      records: new PackedRecords(
        new Map([['former4', former.map(([number, host]) => Buffer.concat([slot(number), pack({ mark: host })]))]]),
      ),
    })
    const kernel = new KernelModel()
    const apply = (content: TableContent, entry: Rendered) => {
      const plan = content.plan([['a', entry]])
      kernel.apply(plan.changes)
      plan.accept()
    }
    const earlier = new TableContent(SPREADING_SETS)
    apply(earlier, seen(1n, [1, 16], [2, 16]))
    const content = new TableContent(SPREADING_SETS)
    content.adopt([['a', seen(1n)]])
    expect(content.generation).toBe(earlier.generation)
    const before = kernel.contents()
    apply(content, seen(2n))
    expect(kernel.contents()).toEqual(before)
    apply(content, seen(3n, [1, 32]))
    expect(kernel.contents()).toEqual({
      former4: [[slot(1).toString('hex'), pack({ mark: 32 }).toString('hex')]],
    })
    apply(content, seen(4n, [1, 32], [3, 48]))
    expect(kernel.contents()['former4']).toHaveLength(2)
  })
})
