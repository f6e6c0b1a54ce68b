import type { Sight } from '@spout/model/node-report'
import type { GroupEntry, WatchedNode } from '@spout/model/node-state'
import { type Clock, Listeners, type Timer } from '@spout/runtime'
import type { NativeHelper } from '@spout/sys'
import type { GroupFollower, GroupReport } from '../../contracts/group-follower.ts'
import { type DomainConfig, rootNetns } from '../../domain/domain-config.ts'

export interface NeighbourWatchOptions {
  readonly config: DomainConfig
  readonly helper: Pick<NativeHelper, 'arpProbe'>
  readonly clock: Clock
}

interface Looked {
  readonly node: WatchedNode
  /** Consecutive probes without an answer. */
  misses: number
  answers: boolean | null
}

/** The helper sends three probes within this time. */
const PROBE_MS = 45
/** Pause between two probes. */
const PAUSE_MS = 400
/** After this many probes without an answer a node counts as silent. */
const MISSES = 2

/**
 * Watches whether nodes of the group that do not report still answer on the fabric, by ARP probes (RFC 5227 section
 * 2.1.1) and neighbour solicitations, which change no neighbour table. Probes only while a node does not report.
 */
export class NeighbourWatch implements GroupFollower {
  readonly #options: NeighbourWatchOptions
  readonly #looked = new Map<string, Looked>()
  readonly #listeners = new Listeners<readonly Sight[]>()
  #told = '[]'
  #timer: Timer | null = null
  #looking = false
  #closed = false

  constructor(options: NeighbourWatchOptions) {
    this.#options = options
  }

  async follow(entry: Pick<GroupEntry, 'watch'> | null): Promise<void> {
    this.configure(entry?.watch ?? [])
  }

  /** @returns a function that ends it */
  onReport(listener: (report: GroupReport) => void): () => void {
    return this.onChange((sights) => listener({ sights }))
  }

  /** Watches exactly these nodes. Keeps the result of a node that stays. */
  configure(nodes: readonly WatchedNode[]): void {
    const before = new Map(this.#looked)
    this.#looked.clear()
    for (const node of nodes) {
      const known = before.get(node.nodeId)
      const same = known !== undefined && known.node.addresses.join() === node.addresses.join()
      this.#looked.set(node.nodeId, same ? known : { node, misses: 0, answers: null })
    }
    this.#tell()
    if (!this.#looking && this.#timer === null) void this.#look()
  }

  /** Calls back when a result changes. @returns a function that unsubscribes */
  onChange(listener: (sights: readonly Sight[]) => void): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.clear()
    this.#timer = null
    this.#listeners.clear()
  }

  async #look(): Promise<void> {
    this.#timer = null
    if (this.#looked.size === 0 || this.#closed) return
    this.#looking = true
    await Promise.all(Array.from(this.#looked.values(), (looked) => this.#lookFor(looked)))
    this.#looking = false
    if (this.#closed) return
    this.#tell()
    this.#timer = this.#options.clock.setTimer(() => void this.#look(), PAUSE_MS)
  }

  async #lookFor(looked: Looked): Promise<void> {
    const { config, helper } = this.#options
    const place = { netns: rootNetns(config), dev: config.fabricInterface, timeoutMs: PROBE_MS }
    try {
      const asked = looked.node.addresses.map((address) => helper.arpProbe({ ...place, address }))
      const answers = (await Promise.all(asked)).some(({ answered }) => answered)
      looked.misses = answers ? 0 : looked.misses + 1
      if (answers) looked.answers = true
      else if (looked.misses >= MISSES) looked.answers = false
    } catch {
      // If a probe cannot be sent, there is no result: the helper is restarting, or the fabric has no link.
    }
  }

  #tell(): void {
    const sights = Array.from(this.#looked.values(), ({ node: { nodeId }, answers }) => ({ nodeId, answers }))
    const known = sights.filter((sight): sight is Sight => sight.answers !== null)
    const words = JSON.stringify(known)
    if (words === this.#told) return
    this.#told = words
    this.#listeners.tell(known)
  }
}
