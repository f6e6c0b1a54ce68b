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

interface Watched {
  lastHeardMs: number
  liveness: Liveness
  timer: Timer | null
}

/** A silent node is not given more than so many times `moveAfterMs`, whoever else comes and however we stand still. */
const MOST_TIMES = 12

/**
 * Who is heard of. A report is the only sign of life. After a start of the control plane every node gets the full
 * `moveAfterMs` to be heard of, so that a restart moves nothing. While others are heard of for the first time that time
 * begins anew: a thousand of them come one after the other, and who is late in the queue is not gone.
 *
 * A standstill of this process is nobody's silence. After one that is long enough for agents to have given up a request,
 * every node gets the full time again, as after a start.
 */
export class NodeLiveness {
  readonly #options: LivenessOptions
  readonly #nodes = new Map<string, Watched>()
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
    const watched: Watched = { lastHeardMs: this.#awake.ms(), liveness: 'new', timer: null }
    this.#nodes.set(nodeId, watched)
    this.#arm(nodeId, watched)
  }

  forget(nodeId: string): void {
    this.#nodes.get(nodeId)?.timer?.clear()
    this.#nodes.delete(nodeId)
  }

  heardOf(nodeId: string): void {
    this.watch(nodeId)
    const watched = this.#nodes.get(nodeId)
    if (watched === undefined) return
    watched.lastHeardMs = this.#awake.ms()
    if (watched.liveness === 'connected') return
    if (watched.liveness === 'new') this.#lastArrivalMs = watched.lastHeardMs
    this.#become(nodeId, watched, 'connected')
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
    const silentMs = this.#silentMs(watched)
    if (silentMs >= moveAfterMs) this.#become(nodeId, watched, 'lost')
    else if (silentMs >= disconnectedAfterMs && watched.liveness === 'connected')
      this.#become(nodeId, watched, 'disconnected')
    if (watched.liveness === 'lost') {
      watched.timer = null
      return
    }
    const deadlineMs = watched.liveness === 'connected' ? Math.min(disconnectedAfterMs, moveAfterMs) : moveAfterMs
    watched.timer = clock.setTimer(() => this.#arm(nodeId, watched), Math.max(1, deadlineMs - silentMs))
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
    for (const listener of this.#listeners) listener(nodeId)
  }
}
