import type { IncomingMessage, Server } from 'node:http'
import type { Clock, Timer } from '@spout/runtime'
import { aheadOfHandlers } from '../http/ahead-of-handlers.ts'
import { RightOfWay } from './right-of-way.ts'

/** Starts a request, which calls `answered` at its end. */
type Start = (answered: () => void) => void

/**
 * Limit of requests that start in one round of the event loop, over all lines. To find the route and the caller of one
 * takes a tenth of a millisecond.
 */
const MOST_OF_ROUND = 4
/** How often lines that are held back are looked at again, if nothing is answered meanwhile. */
const LOOK_EVERY_MS = 1

/**
 * Orders requests as they arrive, when only their headers were parsed. In one round of the event loop a line starts at
 * most one request, and only a few lines start any: half of them those with fewest requests, half those that waited
 * longest. Busy lines hold back their requests while one of a quiet line waits or is under way (`RightOfWay`).
 */
export class ArrivalTurns {
  readonly #clock: Clock
  readonly #ways: RightOfWay
  readonly #lines = new Map<string, Start[]>()
  #round: NodeJS.Immediate | null = null
  #look: Timer | null = null
  /** Whether a request was answered since lines were looked at. */
  #hasAnswered = false

  /** @param goesAhead whether requests of this line may go ahead of busy lines. Default: all */
  constructor(clock: Clock, goesAhead: (line: string) => boolean = () => true) {
    this.#clock = clock
    this.#ways = new RightOfWay(clock, goesAhead)
  }

  /** Calls `start` in its turn, in this round of the event loop at the earliest. */
  begin(line: string, start: Start): void {
    const waiting = this.#lines.get(line)
    if (waiting === undefined) this.#lines.set(line, [start])
    else waiting.push(start)
    this.#ways.arrive(line, this.#lines.get(line)!.length)
    this.#nextRound()
  }

  #nextRound(): void {
    this.#look?.clear()
    this.#look = null
    this.#round ??= setImmediate(() => {
      this.#round = null
      this.#startOfEach()
    })
  }

  #startOfEach(): void {
    const held = this.#ways.held([...this.#lines.keys()])
    const free = [...this.#lines.keys()].filter((line) => !held.has(line))
    const starting = this.#ways.fewestAndOldest(free, MOST_OF_ROUND).map((line) => {
      const waiting = this.#lines.get(line)!
      const start = waiting.shift()!
      // The line goes behind those that wait longer.
      this.#lines.delete(line)
      if (waiting.length > 0) this.#lines.set(line, waiting)
      return { line, start }
    })
    try {
      for (const { line, start } of starting) this.#start(line, start)
    } finally {
      // Only now, so that the next round runs after what the starts have scheduled: a share that is served once a round
      // (`RequestShares`) is ready again when its line's next request starts.
      const isFree = this.#hasAnswered || [...this.#lines.keys()].some((line) => !held.has(line))
      this.#hasAnswered = false
      if (this.#lines.size > 0) this.#lookAgain(isFree)
    }
  }

  #start(line: string, start: Start): void {
    const end = this.#ways.begin(line)
    start(() => {
      end()
      this.#hasAnswered = true
      if (this.#look !== null) this.#nextRound()
    })
  }

  #lookAgain(isFree: boolean): void {
    if (isFree) this.#nextRound()
    else this.#look = this.#clock.setTimer(() => this.#nextRound(), LOOK_EVERY_MS)
  }
}

/**
 * Lets requests of a server wait for their turns before its handlers see them. Call it after the handlers were added.
 * @param lineOf the line of a request, by its headers and connection
 */
export function orderArrivals(server: Server, turns: ArrivalTurns, lineOf: (request: IncomingMessage) => string): void {
  aheadOfHandlers(server, (request, response, handle) =>
    turns.begin(lineOf(request), (answered) => {
      // Nobody waits for the answer any more, and nothing was done yet.
      if (response.destroyed) return answered()
      response.on('close', answered)
      handle()
    }),
  )
}
