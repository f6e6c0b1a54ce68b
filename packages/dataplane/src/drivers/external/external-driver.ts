import type { ServiceStats } from '@spout/model/node-report'
import { type Clock, Mutex, systemClock } from '@spout/runtime'
import type { Log } from '@spout/sys'
import type { Applied, DataPlaneDriver, Feature, WantedEntry } from '../../contracts/driver.ts'
import { DriverAway, DriverLink } from './driver-link.ts'
import { appliedIn, type Counters, lostIn, statsIn, type WireEntry, wireEntry } from './protocol.ts'

export interface ExternalDriverOptions {
  /** For messages. */
  readonly name: string
  /** Names this agent, and no other that the driver may serve. */
  readonly agent: string
  /** Path of the UNIX socket on which it listens. */
  readonly socket: string
  /** What it carries. None: it follows all entries, and carries none. */
  readonly features: readonly Feature[]
  /** Path of a domain's network namespace. */
  readonly netns: (domain: number) => string
  readonly clock?: Clock
  readonly log: Log
}

/**
 * A driver in a process of its own, which may be somebody else's: of a device, of another data plane. The process is not
 * ours to start. While it is away its entries stay as they are, and changes of them fail and are tried again. A process
 * that comes back is given all entries before it is asked for anything else.
 */
export class ExternalDriver implements DataPlaneDriver<WireEntry> {
  readonly name: string
  readonly features: ReadonlySet<Feature>
  readonly #netns: (domain: number) => string
  readonly #link: DriverLink
  readonly #held = new Map<string, WireEntry>()
  readonly #mutex = new Mutex()

  constructor({ netns, ...options }: ExternalDriverOptions) {
    this.name = options.name
    this.features = new Set(options.features)
    this.#netns = netns
    this.#link = new DriverLink({
      ...{ clock: systemClock, ...options },
      features: this.features,
      held: () => this.#held.values(),
    })
  }

  get counters(): Counters {
    return this.#link.counters
  }

  render(wanted: WantedEntry): WireEntry {
    return wireEntry(wanted, this.#netns(wanted.domain.number))
  }

  /** @throws DriverAway: what it holds is given to it when it comes */
  adopt(previous: readonly WantedEntry[]): Promise<void> {
    return this.#mutex.run(async () => {
      for (const wanted of previous) this.#held.set(wanted.key, this.render(wanted))
      this.#link.close()
      await this.#link.open()
    })
  }

  /**
   * Keys that it does not hold are not its concern, and do not fail with it.
   * @throws DriverAway
   */
  apply(changes: {
    readonly put: readonly WantedEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    return this.#mutex.run(async () => {
      const put = changes.put.map((wanted) => this.render(wanted))
      const remove = changes.remove.filter((key) => this.#held.has(key))
      if (put.length + remove.length === 0) return []
      const answer = await this.#link.ask({ call: 'apply', put, remove })
      const applied = appliedIn(answer, new Set([...put.map(({ key }) => key), ...remove]))
      const failed = new Set(applied.flatMap(({ key, state }) => (state === 'failed' ? [key] : [])))
      for (const entry of put) if (!failed.has(entry.key)) this.#held.set(entry.key, entry)
      for (const key of remove) if (!failed.has(key)) this.#held.delete(key)
      return [
        ...put.filter(({ key }) => !failed.has(key)).map(({ key }) => programmed(key)),
        ...applied.filter(({ state }) => state === 'failed'),
      ]
    })
  }

  /** Nothing is known to be lost while it is away. */
  observe(): Promise<readonly string[]> {
    return this.#mutex.run(async () => {
      if (this.#held.size === 0) return []
      const answer = await unlessAway(this.#link.ask({ call: 'observe' }))
      return answer === null ? [] : lostIn(answer).filter((key) => this.#held.has(key))
    })
  }

  stats(): Promise<readonly ServiceStats[]> {
    return this.#mutex.run(async () => {
      if (this.#held.size === 0) return []
      const answer = await unlessAway(this.#link.ask({ call: 'stats' }))
      const known = new Set(Array.from(this.#held.values(), ({ entry }) => entry.id))
      return answer === null ? [] : statsIn(answer, known)
    })
  }

  /** Its process goes on, and with it all that it carries. */
  close(): Promise<void> {
    return this.#mutex.run(async () => this.#link.close())
  }
}

async function unlessAway<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof DriverAway) return null
    throw error
  }
}

const programmed = (key: string): Applied => ({ key, state: 'programmed', reason: null, message: null })
