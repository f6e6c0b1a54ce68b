import type { Clock, Timer } from '@spout/runtime'
import { AwakeTime } from './awake-time.ts'

export interface LivenessOptions {
  readonly clock: Clock
  /** Silence after which a node counts as disconnected: people see it, nothing is taken from it. */
  readonly disconnectedAfterMs: number
  /** Silence after which its addresses move to another node. */
  readonly moveAfterMs: number
}

/** `new`: not heard of since this process started, and not yet for long enough to be missed. */
export type Liveness = 'new' | 'connected' | 'disconnected' | 'lost'

/**
 * What others on the fabric say of a silent node: it still answers for its addresses; it does not; they were asked and have
 * not said yet. Null: there is nobody to ask.
 */
export type Testimony = 'answers' | 'silent' | 'awaited'

interface Watched {
  lastHeardMs: number
  liveness: Liveness
  timer: Timer | null
  /** Not heard of for long enough to be asked after. */
  isMissed: boolean
  testimony: Testimony | null
}

/** How long beyond `moveAfterMs` to wait for nodes that were asked about another: an older agent may not know the question. */
const TESTIMONY_WITHIN_MS = 2000

/** The most time that a silent node is given, in multiples of `moveAfterMs`, whatever starts that time again. */
const MOST_TIMES = 12

/**
 * Tracks node liveness. A node is alive while its reports arrive.
 *
 * After a start of the control plane every node has the full `moveAfterMs` to report, so that a restart moves no address.
 * That time starts again whenever another node reports for the first time: a thousand nodes connect one after the other,
 * and a late one is not dead.
 *
 * When this process stood still, its own lateness is not the silence of nodes. After a standstill that is long enough for
 * agents to have given up a request, every node has the full time again, as after a start.
 *
 * Where other nodes can be asked, silence alone is not death: while they say that the node answers on the fabric, it is
 * disconnected, not lost. A node that was declared lost while none could be asked is looked for again once one can.
 */
export class NodeLiveness {
  readonly #options: LivenessOptions
  readonly #nodes = new Map<string, Watched>()
  readonly #doubtful = new Set<string>()
  readonly #listeners = new Set<(nodeId: string) => void>()
  readonly #awake: AwakeTime
  #lastArrivalMs = Number.NEGATIVE_INFINITY
  #lastStandstillMs = Number.NEGATIVE_INFINITY

  constructor(options: LivenessOptions) {
    this.#options = options
    this.#awake = new AwakeTime({
      clock: options.clock,
      onStandstill: (standstillMs) => {
        if (standstillMs >= options.disconnectedAfterMs) this.#lastStandstillMs = this.#awake.ms()
      },
    })
  }

  of(nodeId: string): Liveness {
    return this.#nodes.get(nodeId)?.liveness ?? 'lost'
  }

  /** Starts to expect reports from a node; harmless for one that is watched already. */
  watch(nodeId: string): void {
    if (this.#nodes.has(nodeId)) return
    const watched: Watched = { lastHeardMs: this.#awake.ms(), liveness: 'new', timer: null, ...HEARD }
    this.#nodes.set(nodeId, watched)
    this.#arm(nodeId, watched)
  }

  forget(nodeId: string): void {
    this.#nodes.get(nodeId)?.timer?.clear()
    this.#nodes.delete(nodeId)
    this.#doubtful.delete(nodeId)
  }

  heardOf(nodeId: string): void {
    this.watch(nodeId)
    const watched = this.#nodes.get(nodeId)
    if (watched === undefined) return
    watched.lastHeardMs = this.#awake.ms()
    Object.assign(watched, HEARD)
    this.#doubtful.delete(nodeId)
    if (watched.liveness === 'connected') return
    if (watched.liveness === 'new') this.#lastArrivalMs = watched.lastHeardMs
    this.#become(nodeId, watched, 'connected')
    this.#arm(nodeId, watched)
  }

  /** Ids of nodes that are silent, and that others should be asked about. */
  get doubtful(): ReadonlySet<string> {
    return this.#doubtful
  }

  /** What those who were asked about a doubtful node say; null when there is nobody to ask. */
  testify(nodeId: string, testimony: Testimony | null): void {
    const watched = this.#nodes.get(nodeId)
    if (watched === undefined || !this.#doubtful.has(nodeId) || watched.testimony === testimony) return
    watched.testimony = testimony
    if (watched.liveness === 'lost' && testimony !== null && testimony !== 'silent') {
      // As if it had just been missed for long enough to be lost: who was found is given the time to say.
      watched.lastHeardMs = this.#awake.ms() - this.#options.moveAfterMs
      this.#become(nodeId, watched, 'disconnected')
    }
    this.#arm(nodeId, watched)
  }

  /** Calls back when a node's liveness changed; returns the unsubscribe. */
  onChange(listener: (nodeId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#awake.close()
    for (const nodeId of [...this.#nodes.keys()]) this.forget(nodeId)
  }

  /** A timer runs to the next deadline as it was when set; reports do not touch it, it looks again when it fires. */
  #arm(nodeId: string, watched: Watched): void {
    const { clock, disconnectedAfterMs, moveAfterMs } = this.#options
    watched.timer?.clear()
    watched.timer = null
    const silentMs = this.#silentMs(watched)
    const missedAfterMs = Math.min(disconnectedAfterMs, moveAfterMs)
    if (silentMs >= missedAfterMs) this.#miss(nodeId, watched)
    // Whoever was told may have testified.
    if (watched.timer !== null) return
    if (silentMs >= moveAfterMs && this.#isDead(watched, silentMs)) {
      if (watched.testimony !== null) this.#doubtful.delete(nodeId)
      this.#become(nodeId, watched, 'lost')
    } else if (silentMs >= moveAfterMs && watched.liveness === 'new') this.#become(nodeId, watched, 'disconnected')
    if (watched.liveness === 'lost' || watched.timer !== null) return
    const deadlineMs = !watched.isMissed
      ? missedAfterMs
      : silentMs < moveAfterMs
        ? moveAfterMs
        : watched.testimony === 'awaited'
          ? moveAfterMs + TESTIMONY_WITHIN_MS
          : null
    if (deadlineMs === null) return
    watched.timer = clock.setTimer(() => this.#arm(nodeId, watched), Math.max(1, deadlineMs - silentMs))
  }

  #miss(nodeId: string, watched: Watched): void {
    if (watched.isMissed) return
    watched.isMissed = true
    this.#doubtful.add(nodeId)
    if (watched.liveness === 'connected') this.#become(nodeId, watched, 'disconnected')
    // People are not told of one that is new, but others are to be asked about it.
    else this.#tell(nodeId)
  }

  #isDead({ testimony }: Watched, silentMs: number): boolean {
    if (testimony === 'awaited') return silentMs >= this.#options.moveAfterMs + TESTIMONY_WITHIN_MS
    return testimony !== 'answers'
  }

  #silentMs({ liveness, lastHeardMs }: Watched): number {
    const nowMs = this.#awake.ms()
    const silentMs = nowMs - lastHeardMs
    if (silentMs >= MOST_TIMES * this.#options.moveAfterMs) return silentMs
    const arrivedMs = liveness === 'new' ? this.#lastArrivalMs : Number.NEGATIVE_INFINITY
    return Math.min(silentMs, nowMs - Math.max(arrivedMs, this.#lastStandstillMs))
  }

  #become(nodeId: string, watched: Watched, liveness: Liveness): void {
    if (watched.liveness === liveness) return
    watched.liveness = liveness
    this.#tell(nodeId)
  }

  #tell(nodeId: string): void {
    for (const listener of this.#listeners) listener(nodeId)
  }
}

const HEARD = { isMissed: false, testimony: null } as const
