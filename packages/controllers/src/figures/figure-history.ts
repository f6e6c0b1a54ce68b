import type { FigureSpan, Figures, LoadRates } from '@spout/model'
import { type Clock, Listeners, type Timer } from '@spout/runtime'
import { type Counted, type CountedStats, countedIn, hasTraffic } from './counted.ts'
import { LoadFigures, noFigures } from './load-figures.ts'

/** How often rates are worked out. Nodes tell counters every five seconds. */
const LOOK_MS = 10_000
const REPORT_MS = 5_000
/** Without traffic for this long, a load balancer is looked at no more. Its last steps have ended by then. */
const IDLE_MS = 660_000

interface Kept {
  readonly figures: LoadFigures
  movedMs: number
  /** Whether it counted something since the last look. */
  hasMoved: boolean
  isIdle: boolean
}

export interface FigureHistoryOptions {
  readonly clock: Clock
  /** What was counted since this process knows it: of a load balancer by listener, of a node as one. */
  readonly counted: (id: string) => readonly CountedStats[]
  /** Limit of all histories. A new one replaces that which has been idle longest; while none is idle, it is not kept. */
  readonly mostBytes: number
}

/**
 * The history of the figures of load balancers and nodes that have traffic. It is soft state, in a bounded number of
 * bytes.
 */
export class FigureHistory {
  readonly #options: FigureHistoryOptions
  /** Those that counted something last come last. */
  readonly #kept = new Map<string, Kept>()
  /** Those that counted something and have no history yet. */
  readonly #new = new Set<string>()
  readonly #listeners = new Listeners<string>()
  #bytes = 0
  #timer: Timer | null = null

  constructor(options: FigureHistoryOptions) {
    this.#options = options
  }

  /** Bytes that all histories take. */
  get bytes(): number {
    return this.#bytes
  }

  /** Call when a node reported counters of the load balancer, and for the node itself. */
  moved(id: string): void {
    if (this.#options.mostBytes === 0) return
    const kept = this.#kept.get(id)
    if (kept === undefined) this.#new.add(id)
    else this.#move(id, kept)
    this.#timer ??= this.#options.clock.setTimer(() => this.#look(), LOOK_MS)
  }

  rates(id: string): LoadRates | null {
    const kept = this.#kept.get(id)
    return kept === undefined ? null : kept.figures.rates
  }

  read(id: string, span: FigureSpan): Figures {
    const nowMs = this.#options.clock.now().getTime()
    return this.#kept.get(id)?.figures.read(span, nowMs) ?? noFigures(span, nowMs)
  }

  /** Called with the id of each load balancer and node whose rates changed noticeably. */
  onRates(listener: (id: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  forget(id: string): void {
    this.#new.delete(id)
    const kept = this.#kept.get(id)
    if (kept === undefined) return
    this.#kept.delete(id)
    this.#bytes -= kept.figures.bytes
  }

  close(): void {
    this.#timer?.clear()
    this.#listeners.clear()
  }

  #move(id: string, kept: Kept): void {
    const nowMs = this.#options.clock.now().getTime()
    if (kept.isIdle) kept.figures.resume(nowMs, nowMs - REPORT_MS)
    Object.assign(kept, { movedMs: nowMs, hasMoved: true, isIdle: false })
    this.#kept.delete(id)
    this.#kept.set(id, kept)
  }

  #look(): void {
    const { clock, counted } = this.#options
    this.#timer = null
    const nowMs = clock.now().getTime()
    for (const id of this.#new) this.#keep(id, nowMs, countedIn(counted(id)))
    this.#new.clear()
    let isBusy = false
    for (const [id, kept] of this.#kept) {
      if (kept.isIdle) continue
      this.#lookAt(id, kept, nowMs)
      if (nowMs - kept.movedMs > IDLE_MS) kept.isIdle = true
      else isBusy = true
    }
    if (isBusy) this.#timer ??= clock.setTimer(() => this.#look(), LOOK_MS)
  }

  #lookAt(id: string, kept: Kept, nowMs: number): void {
    const { figures, hasMoved } = kept
    const { rates: before, bytes } = figures
    figures.look(nowMs, hasMoved ? countedIn(this.#options.counted(id)) : figures.counted)
    kept.hasMoved = false
    this.#bytes += figures.bytes - bytes
    // It counts more than before, such as requests.
    if (this.#bytes > this.#options.mostBytes) this.forget(id)
    if (differ(before, figures.rates)) this.#listeners.tell(id)
  }

  /** Begins a history: nothing was counted before. */
  #keep(id: string, nowMs: number, counted: Counted): void {
    if (!hasTraffic(counted) || !this.#makeRoom(LoadFigures.bytes(counted))) return
    const figures = new LoadFigures(nowMs - LOOK_MS, nothingOf(counted))
    this.#bytes += figures.bytes
    this.#kept.set(id, { figures, movedMs: nowMs, hasMoved: true, isIdle: false })
  }

  #makeRoom(bytes: number): boolean {
    const { mostBytes } = this.#options
    for (const [id, { isIdle }] of this.#kept) {
      if (this.#bytes + bytes <= mostBytes || !isIdle) break
      this.forget(id)
    }
    return this.#bytes + bytes <= mostBytes
  }
}

const nothingOf = ({ requests, latencies }: Counted): Counted => ({
  ...{ connections: 0, open: 0, bytesIn: 0, bytesOut: 0, requestErrors: 0 },
  requests: requests?.map(() => 0) ?? null,
  latencies: latencies && new Uint32Array(latencies.length),
})

/** Two digits are what people see. */
const differ = (a: LoadRates, b: LoadRates): boolean =>
  a.connectionsPerSecond.toPrecision(2) !== b.connectionsPerSecond.toPrecision(2) ||
  a.bytesPerSecond.toPrecision(2) !== b.bytesPerSecond.toPrecision(2)
