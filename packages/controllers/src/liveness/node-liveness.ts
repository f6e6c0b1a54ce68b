import { type Clock, Listeners, type Timer } from '@spout/runtime'
import { AwakeTime } from './awake-time.ts'

export interface LivenessOptions {
  readonly clock: Clock
  /** After this silence a node is `disconnected`. It keeps its addresses. */
  readonly disconnectedAfterMs: number
  /** After this silence a node is `lost`, and its addresses move to another node. */
  readonly moveAfterMs: number
}

/** `new`: it has not reported since this process started, and is not overdue yet. */
export type Liveness = 'new' | 'connected' | 'disconnected' | 'lost'

/**
 * What other nodes report about a silent node: it answers for its addresses on the fabric, it does not, or they have
 * not reported yet.
 */
export type PeerSight = 'answers' | 'silent' | 'awaited'

interface Watched {
  lastHeardMs: number
  liveness: Liveness
  timer: Timer | null
  /** Whether it has been silent for so long that other nodes are asked to probe it. */
  isMissed: boolean
  /** Null: no node can be asked. */
  peerSight: PeerSight | null
}

/** How long to wait beyond `moveAfterMs` for the nodes that were asked. Older agents do not answer. */
const PEER_SIGHT_WITHIN_MS = 2000

/** Limit of the time that a silent node gets, in multiples of `moveAfterMs`, however often its time restarts. */
const MOST_TIMES = 12

/**
 * Tracks node liveness. A node is alive while its reports arrive.
 *
 * After a start of the control plane every node has the full `moveAfterMs` to report, so that a restart moves no
 * address. That time restarts whenever another node reports for the first time: a thousand nodes connect one after the
 * other, and one that is late is not dead.
 *
 * A standstill of this process does not count as silence of nodes. After a standstill that was so long that agents gave
 * up their requests, every node has the full time again, as after a start.
 *
 * If other nodes can be asked, silence alone is not death. While they see the node answer on the fabric, it is
 * `disconnected`, not `lost`. A node that became `lost` while no other could be asked is checked again once one can.
 */
export class NodeLiveness {
  readonly #options: LivenessOptions
  readonly #nodes = new Map<string, Watched>()
  readonly #suspected = new Set<string>()
  readonly #listeners = new Listeners<string>()
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

  /** Starts to expect reports from a node. Harmless for a known one. */
  watch(nodeId: string): void {
    if (this.#nodes.has(nodeId)) return
    const watched: Watched = { lastHeardMs: this.#awake.ms(), liveness: 'new', timer: null, ...HEARD }
    this.#nodes.set(nodeId, watched)
    this.#arm(nodeId, watched)
  }

  forget(nodeId: string): void {
    this.#nodes.get(nodeId)?.timer?.clear()
    this.#nodes.delete(nodeId)
    this.#suspected.delete(nodeId)
  }

  heardOf(nodeId: string): void {
    this.watch(nodeId)
    const watched = this.#nodes.get(nodeId)
    if (watched === undefined) return
    watched.lastHeardMs = this.#awake.ms()
    Object.assign(watched, HEARD)
    this.#suspected.delete(nodeId)
    if (watched.liveness === 'connected') return
    if (watched.liveness === 'new') this.#lastArrivalMs = watched.lastHeardMs
    this.#become(nodeId, watched, 'connected')
    this.#arm(nodeId, watched)
  }

  /** Ids of silent nodes that other nodes should be asked about. */
  get suspected(): ReadonlySet<string> {
    return this.#suspected
  }

  /** Sets what other nodes report about a suspected node. Null: none can be asked. */
  setPeerSight(nodeId: string, peerSight: PeerSight | null): void {
    const watched = this.#nodes.get(nodeId)
    if (watched === undefined || !this.#suspected.has(nodeId) || watched.peerSight === peerSight) return
    watched.peerSight = peerSight
    if (watched.liveness === 'lost' && peerSight !== null && peerSight !== 'silent') {
      // The node counts as overdue from now on, so that the other nodes have time to report.
      watched.lastHeardMs = this.#awake.ms() - this.#options.moveAfterMs
      this.#become(nodeId, watched, 'disconnected')
    }
    this.#arm(nodeId, watched)
  }

  /** Calls the listener when a node's liveness changed. @returns the unsubscribe function */
  onChange(listener: (nodeId: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): void {
    this.#awake.close()
    for (const nodeId of [...this.#nodes.keys()]) this.forget(nodeId)
  }

  /**
   * Evaluates the node and sets a timer for its next deadline. Reports do not reset the timer: it evaluates anew when
   * it fires.
   */
  #arm(nodeId: string, watched: Watched): void {
    const { clock, disconnectedAfterMs, moveAfterMs } = this.#options
    watched.timer?.clear()
    watched.timer = null
    const silentMs = this.#silentMs(watched)
    const missedAfterMs = Math.min(disconnectedAfterMs, moveAfterMs)
    if (silentMs >= missedAfterMs) this.#miss(nodeId, watched)
    // A listener may have called `setPeerSight`.
    if (watched.timer !== null) return
    if (silentMs >= moveAfterMs && this.#isDead(watched, silentMs)) {
      if (watched.peerSight !== null) this.#suspected.delete(nodeId)
      this.#become(nodeId, watched, 'lost')
    } else if (silentMs >= moveAfterMs && watched.liveness === 'new') this.#become(nodeId, watched, 'disconnected')
    if (watched.liveness === 'lost' || watched.timer !== null) return
    const deadlineMs = !watched.isMissed
      ? missedAfterMs
      : silentMs < moveAfterMs
        ? moveAfterMs
        : watched.peerSight === 'awaited'
          ? moveAfterMs + PEER_SIGHT_WITHIN_MS
          : null
    if (deadlineMs === null) return
    watched.timer = clock.setTimer(() => this.#arm(nodeId, watched), Math.max(1, deadlineMs - silentMs))
  }

  #miss(nodeId: string, watched: Watched): void {
    if (watched.isMissed) return
    watched.isMissed = true
    this.#suspected.add(nodeId)
    if (watched.liveness === 'connected') this.#become(nodeId, watched, 'disconnected')
    // A `new` node is not shown as missing, but other nodes are asked about it.
    else this.#tell(nodeId)
  }

  #isDead({ peerSight }: Watched, silentMs: number): boolean {
    if (peerSight === 'awaited') return silentMs >= this.#options.moveAfterMs + PEER_SIGHT_WITHIN_MS
    return peerSight !== 'answers'
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
    this.#listeners.tell(nodeId)
  }
}

const HEARD = { isMissed: false, peerSight: null } as const
