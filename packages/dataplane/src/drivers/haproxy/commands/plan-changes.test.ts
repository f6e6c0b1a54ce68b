import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentOf, emptyContent, type FrontendValues, NOTHING_PLACED, type PlacedEntry } from '../rendering/content.ts'
import type { RenderedServer } from '../rendering/render-backend.ts'
import { type Command, follow } from './command.ts'
import { planChanges } from './plan-changes.ts'

const server = (name: string, change: Partial<RenderedServer> = {}): RenderedServer => ({
  name,
  id: 1,
  address: '10.0.0.1',
  port: 80,
  weight: 1,
  proxyProtocol: 'none',
  ready: true,
  ...change,
})

const placed = (servers: readonly RenderedServer[], values: FrontendValues = { backend: 'b1' }): PlacedEntry => ({
  frontends: [{ slot: 1, values }],
  backends: [{ slot: 1, servers }],
})

const commandsFor = (before: PlacedEntry, want: PlacedEntry): readonly Command[] => {
  const { raise, turn, lower } = planChanges(contentOf([before]), before, want)
  return [...raise, ...turn, ...lower]
}

describe('planChanges', () => {
  it('has no commands if nothing differs', () => {
    const want = placed([server('a'), server('b', { ready: false })])
    expect(commandsFor(want, want)).toEqual([])
  })

  it('adds a server, then enables it', () => {
    expect(commandsFor(placed([]), placed([server('a')]))).toEqual([
      { do: 'add-server', backend: 1, server: server('a') },
      { do: 'set-ready', backend: 1, server: 'a', ready: true },
    ])
  })

  it('takes a down server out with one command', () => {
    expect(commandsFor(placed([server('a')]), placed([server('a', { ready: false })]))).toEqual([
      { do: 'set-ready', backend: 1, server: 'a', ready: false },
    ])
  })

  it('ends the connections of a server that goes down and is to be reset, once', () => {
    const down = placed([server('a', { ready: false, reset: true })])
    expect(commandsFor(placed([server('a')]), down)).toEqual([
      { do: 'set-ready', backend: 1, server: 'a', ready: false },
      { do: 'shutdown-sessions', backend: 1, server: 'a' },
    ])
    expect(commandsFor(down, down)).toEqual([])
  })

  it('drains by weight 0', () => {
    expect(commandsFor(placed([server('a')]), placed([server('a', { weight: 0 })]))).toEqual([
      { do: 'set-weight', backend: 1, server: 'a', weight: 0 },
    ])
  })

  it('raises weights before it switches frontends, and lowers them last', () => {
    const before = placed([server('old')])
    const want: PlacedEntry = {
      frontends: [{ slot: 1, values: { backend: 'b2' } }],
      backends: [{ slot: 2, servers: [server('new')] }],
    }
    expect(commandsFor(before, want).map((command) => command.do)).toEqual([
      'add-server',
      'set-ready',
      'set-map',
      'set-ready',
      'del-server',
    ])
  })

  it('clears what an entry had when it goes', () => {
    expect(commandsFor(placed([server('a')], { backend: 'b1' }), NOTHING_PLACED)).toEqual([
      { do: 'del-map', map: 'backend', frontend: 1 },
      { do: 'set-ready', backend: 1, server: 'a', ready: false },
      { do: 'del-server', backend: 1, server: 'a' },
    ])
  })

  const values = fc.record({ backend: fc.constantFrom('b1', 'b2') }, { requiredKeys: [] })
  const servers = fc.uniqueArray(
    fc
      .record({ name: fc.constantFrom('a', 'b', 'c', 'd'), weight: fc.nat(3), ready: fc.boolean() })
      .map(({ name, ...change }) => server(name, change)),
    { selector: ({ name }) => name },
  )
  const slotted = <T extends object>(rest: fc.Arbitrary<T>): fc.Arbitrary<readonly ({ slot: number } & T)[]> =>
    fc.uniqueArray(
      fc.tuple(fc.nat(3), rest).map(([slot, others]) => ({ slot, ...others })),
      { selector: ({ slot }) => slot },
    )
  const entry: fc.Arbitrary<PlacedEntry> = fc.record({
    frontends: slotted(fc.record({ values })),
    backends: slotted(fc.record({ servers })),
  })

  it('reaches the wanted content from any other, and then plans nothing', () => {
    /** Content without its empty slots, which are equal to missing ones. */
    const normal = (content: ReturnType<typeof contentOf>) => ({
      frontends: new Map([...content.frontends].filter(([, held]) => Object.keys(held).length > 0)),
      backends: new Map([...content.backends].filter(([, held]) => held.size > 0)),
    })
    fc.assert(
      fc.property(entry, entry, (before, want) => {
        const content = contentOf([before])
        const { raise, turn, lower } = planChanges(content, before, want)
        for (const command of [...raise, ...turn, ...lower]) follow(content, command)
        expect(normal(content)).toEqual(normal(contentOf([want])))
        expect(planChanges(content, want, want)).toEqual({ raise: [], turn: [], lower: [] })
      }),
    )
  })

  it('depends on the entry alone, not on what else the process holds', () => {
    const content = emptyContent()
    for (let slot = 100; slot < 200; slot++) content.backends.set(slot, new Map([['x', { weight: 1, ready: true }]]))
    expect(planChanges(content, NOTHING_PLACED, placed([])).lower).toEqual([])
  })
})
