import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, it } from 'vitest'
import type { PlacedEntry } from '../rendering/content.ts'
import type { RenderedServer } from '../rendering/render-backend.ts'
import type { Command } from './command.ts'
import { Drains } from './drains.ts'

const placed = (...servers: Partial<RenderedServer>[]): PlacedEntry => ({
  frontends: [],
  backends: [
    {
      slot: 3,
      servers: servers.map((change) => ({
        name: 'm1',
        id: 1,
        address: '10.0.0.1',
        port: 80,
        weight: 1,
        proxyProtocol: 'none',
        ready: true,
        ...change,
      })),
    },
  ],
})
const deletion: Command = { do: 'del-server', backend: 3, server: 'm1' }
/** Commands that close idle connections, and delete the server. */
const deletions: readonly Command[] = [
  { do: 'set-drain', backend: 3, server: 'm1' },
  { do: 'set-ready', backend: 3, server: 'm1', ready: false },
  deletion,
]
const shutdown: Command = { do: 'shutdown-sessions', backend: 3, server: 'm1' }
const returnsNobody = () => false
const BUSY = 'Server still has connections attached to it, cannot remove it.'

it('tries to delete until nobody is connected; past the deadline it ends connections first', async () => {
  const clock = new FakeClock()
  const drains = new Drains(5_000, clock)
  expect(drains.follow([deletion], [BUSY])).toEqual([null])
  expect(drains.due(returnsNobody)).toEqual(deletions)
  await clock.advance(5_000)
  expect(drains.due(returnsNobody)).toEqual([shutdown, ...deletions])
  drains.follow([shutdown, deletion], [null, BUSY])
  expect(drains.due(returnsNobody)).toEqual([shutdown, ...deletions])
  drains.follow([shutdown, deletion], [null, null])
  expect(drains.size).toBe(0)
})

it('never lets a server drain whose clients would return to it', async () => {
  const clock = new FakeClock()
  const drains = new Drains(5_000, clock)
  drains.follow([deletion, { ...deletion, backend: 4 }], [BUSY, BUSY])
  const due = () => drains.due((backend) => backend === 3)
  const others = deletions.map((command) => ({ ...command, backend: 4 }))
  expect(due()).toEqual([deletion, ...others])
  await clock.advance(5_000)
  expect(due()).toEqual([shutdown, deletion, { ...shutdown, backend: 4 }, ...others])
})

it('tells when the first deadline comes', async () => {
  const clock = new FakeClock()
  const drains = new Drains(5_000, clock)
  expect(drains.endsInMs).toBe(Number.POSITIVE_INFINITY)
  drains.follow([{ ...deletion, server: 'm2' }], [BUSY])
  await clock.advance(2_000)
  drains.follow([deletion], [BUSY])
  expect(drains.endsInMs).toBe(3_000)
  await clock.advance(4_000)
  expect(drains.endsInMs).toBe(0)
  drains.follow([{ ...deletion, server: 'm2' }], [null])
  expect(drains.endsInMs).toBe(1_000)
})

it("uses the deadline of the server's pool", async () => {
  const clock = new FakeClock()
  const drains = new Drains(5_000, clock)
  drains.keep(placed({ drainMs: 60_000 }))
  drains.follow([deletion], [BUSY])
  await clock.advance(59_999)
  expect(drains.due(returnsNobody)).toEqual(deletions)
  await clock.advance(1)
  expect(drains.due(returnsNobody)).toEqual([shutdown, ...deletions])
})

it('ends the connections of a server of weight 0 once, and keeps it', async () => {
  const clock = new FakeClock()
  const drains = new Drains(5_000, clock)
  drains.keep(placed({ weight: 0 }))
  expect(drains.size).toBe(1)
  await clock.advance(4_000)
  // Another change of its load balancer does not begin the time anew.
  drains.keep(placed({ weight: 0 }))
  expect(drains.due(returnsNobody)).toEqual([])
  await clock.advance(1_000)
  expect(drains.due(returnsNobody)).toEqual([shutdown])
  drains.follow([shutdown], [null])
  expect(drains.due(returnsNobody)).toEqual([])
  expect(drains.size).toBe(0)
  drains.keep(placed({ weight: 2 }))
  drains.keep(placed({ weight: 0 }))
  expect(drains.size).toBe(1)
})

it('goes on to delete a server that had weight 0', async () => {
  const clock = new FakeClock()
  const drains = new Drains(5_000, clock)
  drains.keep(placed({ weight: 0 }))
  await clock.advance(3_000)
  drains.follow([deletion], [BUSY])
  await clock.advance(4_000)
  expect(drains.due(returnsNobody)).toEqual(deletions)
})

it('keeps a server that is wanted again, and was to be deleted before', () => {
  const drains = new Drains(5_000, new FakeClock())
  const wanted = placed({})
  drains.keep(wanted)
  drains.follow([deletion], [BUSY])
  expect(drains.size).toBe(1)
  drains.keep(wanted)
  expect(drains.size).toBe(0)
})
