import { expect, it } from 'vitest'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { withFormerNodes } from './former-nodes.ts'
import { render } from './render.ts'
import type { Rendered, Spread } from './rendered.ts'
import { recordBytes, SETS, type SetName } from './sets.ts'

const [OWN, SECOND, THIRD] = [16, 32, 48] as const
const domain = domainEntry(7, {
  returnPath: 'node',
  gateway: null,
  hosts: {
    ...{ vni: 7, own: OWN, address: '192.0.2.1' },
    peers: [SECOND, THIRD].map((number) => ({ number, address: `192.0.2.${number}` })),
    prefixes: [OWN, SECOND, THIRD].map((host) => ({ to: `10.244.${host}.0/24`, host })),
  },
})

/** The entry's part with one member on each of these nodes, which share its 64 slots. */
const on = (hosts: readonly number[], down: readonly number[] = []): Spread =>
  render(
    wanted(
      'a',
      domain,
      {
        vips: [vip('203.0.113.10')],
        services: [service('l1', 80, 5), service('l2', 81, 5)],
        pools: [
          pool(
            5,
            hosts.map((host) => member(`m${host}`, `10.244.${host}.9`)),
          ),
        ],
      },
      down.map((host) => `m${host}`),
    ),
  ).spread!

/** What the entry has after all these changes. */
const after = (...parts: readonly Spread[]): Rendered =>
  parts.reduce<Rendered | undefined>((before, part) => withFormerNodes(before, part), undefined)!

/** How many slots have which former node. */
function formers({ records }: Rendered): Record<number, number> {
  const all = records.get('former4') ?? Buffer.alloc(0)
  const hosts = Array.from({ length: all.length / recordBytes(SETS.former4) }, (_, at) => all.readUInt32LE(12 * at + 8))
  return Object.fromEntries([...new Set(hosts)].map((host) => [host, hosts.filter((one) => one === host).length]))
}

const bytes = ({ records }: Rendered, set: SetName) => records.get(set)?.toString('hex')

it('a slot that comes to this node has the node that it came from', () => {
  expect(formers(after(on([SECOND])))).toEqual({})
  const moved = after(on([SECOND]), on([OWN]))
  expect(formers(moved)).toEqual({ [SECOND]: 64 })
  expect(bytes(moved, 'moved4')).toBe('05000000')
  expect(formers(after(on([SECOND]), on([OWN, SECOND])))).toEqual({ [SECOND]: 32 })
})

it('others that move are no business of this node', () => {
  expect(formers(after(on([SECOND]), on([THIRD])))).toEqual({})
  expect(formers(after(on([OWN]), on([THIRD])))).toEqual({})
})

it('a slot keeps its former node when it leads elsewhere, until it comes again', () => {
  expect(formers(after(on([SECOND]), on([OWN]), on([THIRD])))).toEqual({ [SECOND]: 64 })
  expect(formers(after(on([SECOND]), on([OWN]), on([THIRD]), on([OWN])))).toEqual({ [THIRD]: 64 })
})

it('a node whose members are all down is no former node', () => {
  expect(formers(after(on([OWN, SECOND]), on([OWN, SECOND], [SECOND])))).toEqual({})
  expect(formers(after(on([SECOND]), on([OWN, SECOND]), on([OWN, SECOND], [SECOND])))).toEqual({})
  // It left the pool before it was down.
  expect(formers(after(on([SECOND]), on([OWN]), on([OWN])))).toEqual({ [SECOND]: 64 })
})

it('changes no digest, and keeps what it has while nothing changes', () => {
  const moved = after(on([SECOND]), on([OWN]))
  expect(moved.digest).toBe(on([OWN]).entry.digest)
  expect(withFormerNodes(moved, on([OWN]))).toBe(moved)
})
