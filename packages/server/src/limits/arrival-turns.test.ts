import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { FakeClock } from '@spout/runtime/fake-clock'
import { recordFault, waitFor } from '@spout/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ArrivalTurns, orderArrivals } from './arrival-turns.ts'
import { RequestShares } from './request-shares.ts'

/** One round of the event loop. An immediate that was set later runs later. */
const round = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('ArrivalTurns', () => {
  let clock: FakeClock
  let turns: ArrivalTurns
  let started: string[]
  beforeEach(() => {
    clock = new FakeClock()
    turns = new ArrivalTurns(clock)
    started = []
  })
  /** A request that is answered as soon as it has started. */
  const arrive = (line: string, name = line) =>
    turns.begin(line, (answered) => {
      started.push(name)
      answered()
    })

  test('each line starts one request per round, in order, and those with more wait for that with fewest', async () => {
    for (let n = 1; n <= 4; n++) arrive('busy', `busy${n}`)
    arrive('other', 'other1')
    await round()
    expect(started).toEqual(['other1'])
    await round()
    expect(started.slice(1)).toEqual(['busy1'])
    arrive('other', 'other2')
    arrive('busy', 'busy5')
    await round()
    expect(started.slice(2)).toEqual(['other2'])
    for (let n = 0; n < 4; n++) await round()
    expect(started.slice(3)).toEqual(['busy2', 'busy3', 'busy4', 'busy5'])
  })

  test('what a start sets for the next round is done before the next of its line starts', async () => {
    const shares = new RequestShares({ clock, perSecond: 1000, burst: 1000 })
    const atOnce: boolean[] = []
    for (let n = 0; n < 4; n++)
      turns.begin('one', (answered) => {
        atOnce.push(shares.startsNow('one'))
        answered()
      })
    for (let n = 0; n < 4; n++) await round()
    expect(atOnce).toEqual([true, true, true, true])
    shares.close()
  })

  test('all lines that wait have their turn in each round', async () => {
    for (const line of ['a', 'b', 'c']) for (let n = 0; n < 2; n++) arrive(line)
    await round()
    expect(started).toEqual(['a', 'b', 'c'])
    await round()
    expect(started).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  })

  test('of very many lines few start in a round: those with fewest requests, and those that waited longest', async () => {
    const rounds: string[][] = []
    const look = async () => {
      await round()
      rounds.push(started.splice(0))
    }
    // Equal lines do not wait for each other.
    for (const line of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) arrive(line)
    await look()
    expect(rounds.at(-1)).toHaveLength(4)
    await look()
    expect(rounds.flat().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  })

  test('in a burst of very many projects another one is in the next round, again and again', async () => {
    const PROJECTS = 50
    /** Two writers each, which write again as soon as they are answered; a write is answered some rounds later. */
    let isOver = false
    const write = (project: string): void =>
      turns.begin(project, (answered) => {
        started.push(project)
        void (async () => {
          for (let n = 0; n < 8; n++) await round()
          answered()
          if (!isOver) write(project)
        })()
      })
    for (let n = 0; n < PROJECTS; n++) for (let writer = 0; writer < 2; writer++) write(`p${n}`)
    for (let n = 0; n < 30; n++) await round()
    const waited: number[] = []
    for (let n = 0; n < 20; n++) {
      arrive('other')
      const before = started.length
      while (!started.includes('other', before)) await round()
      waited.push(started.indexOf('other', before) - before)
      for (let pause = 0; pause < 5; pause++) await round()
      await clock.advance(2)
    }
    // It is the first of its round: it starts before any of the hundred that wait.
    expect(waited).toEqual(waited.map(() => 0))
    expect(started.length).toBeGreaterThan(PROJECTS * 2)
    isOver = true
    recordFault({
      fault: `API: a request of one project among those of ${PROJECTS} that each have two under way (F18)`,
      outcome: 'it starts in the round in which it arrives, before all that wait; the others have their turns',
      figure: `${Math.max(...waited)} of ${PROJECTS * 2} started before it, in ${waited.length} of ${waited.length} tries`,
    })
  })

  test('a request that a starting one of its line leads to waits for a later round', async () => {
    const greedy: string[] = []
    const again = (answered: () => void) => {
      greedy.push('greedy')
      answered()
      turns.begin('greedy', again)
    }
    turns.begin('greedy', again)
    await round()
    expect(greedy).toHaveLength(1)
    await round()
    expect(greedy).toHaveLength(2)
  })
})

describe('while a request of a quiet line is under way', () => {
  test('a busy line holds back its own, which start as soon as that one is answered', async () => {
    const turns = new ArrivalTurns(new FakeClock())
    const started: string[] = []
    let answered = () => {}
    for (let n = 0; n < 3; n++)
      turns.begin('busy', (end) => {
        started.push('busy')
        end()
      })
    turns.begin('quiet', (end) => {
      started.push('quiet')
      answered = end
    })
    for (let n = 0; n < 5; n++) await round()
    expect(started).toEqual(['quiet'])
    answered()
    for (let n = 0; n < 3; n++) await round()
    expect(started).toEqual(['quiet', 'busy', 'busy', 'busy'])
  })

  test('not for longer than a moment: a watch is under way for days', async () => {
    const clock = new FakeClock()
    const turns = new ArrivalTurns(clock)
    let started = 0
    turns.begin('quiet', () => {})
    await round()
    for (let n = 0; n < 3; n++)
      turns.begin('busy', (end) => {
        started++
        end()
      })
    await round()
    expect(started).toBe(0)
    for (let ms = 0; ms < 10; ms++) {
      await clock.advance(1)
      await round()
    }
    for (let n = 0; n < 3; n++) await round()
    expect(started).toBe(3)
  })
})

describe('orderArrivals', () => {
  const BURST = 30
  let server: Server
  let handled: string[]
  let sockets: Socket[]

  beforeEach(async () => {
    handled = []
    sockets = []
    server = createServer((request, response) => {
      handled.push(String(request.headers['x-line']))
      response.end('done')
    })
    orderArrivals(server, new ArrivalTurns(new FakeClock()), ({ headers }) => String(headers['x-line']))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  const send = (socket: Socket, line: string) => socket.write(`GET / HTTP/1.1\r\nhost: h\r\nx-line: ${line}\r\n\r\n`)

  /** A connection that has had an answer, so that nothing of it is still under way. */
  const connection = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    sockets.push(socket)
    send(socket, 'first')
    await once(socket, 'data')
    socket.resume()
    return socket
  }

  test('a request that arrives together with many of a neighbour is handled before most of them', async () => {
    const [other, ...busy] = await Promise.all(Array.from({ length: BURST + 1 }, connection))
    handled.length = 0
    // Written within one turn of the event loop, so the server finds them in one look at its sockets.
    for (const socket of busy) send(socket, 'busy')
    send(other!, 'other')
    await waitFor(() => handled.length === BURST + 1, { what: 'all requests to be handled' })
    // A machine under load may deliver them in a few portions; in order of arrival it would be the last.
    expect(handled.indexOf('other')).toBeLessThan(BURST / 3)
  })

  test('a request whose client has gone before its turn is not handled', async () => {
    const [gone, ...busy] = await Promise.all(Array.from({ length: BURST + 1 }, connection))
    handled.length = 0
    for (const socket of busy) send(socket, 'busy')
    send(gone!, 'busy')
    gone!.resetAndDestroy()
    await waitFor(() => handled.length >= BURST, { what: 'the others to be handled' })
    expect(handled).toHaveLength(BURST)
  })
})
