import { type Clock, Mutex, systemClock } from '@spout/runtime'
import type { Log, NativeHelper } from '@spout/sys'
import type { Applied, EntryFollower, WantedEntry } from '../contracts/driver.ts'
import type { DomainConfig } from '../domain/domain-config.ts'
import { domainNames } from '../domain/domain-names.ts'
import { FlowCuts } from './flow-cuts.ts'
import { type TrackedEntry, trackedEntry } from './tracked-entry.ts'

export interface MemberFlowsOptions {
  readonly config: DomainConfig
  readonly helper: Pick<NativeHelper, 'conntrackDelete'>
  readonly log: Log
  readonly clock?: Clock
  /** The file that keeps waiting drains for the next agent. Default: memory only. */
  readonly drainFile?: string
}

/**
 * Deletes tracked flows of members that failed or left, whichever driver created them, since all drivers share the
 * kernel's connection tracking.
 */
export class MemberFlows implements EntryFollower {
  readonly name = 'member-flows'
  /** Deleted flows are traffic and not configuration. */
  readonly counters = { transactions: 0, reloads: 0 }
  readonly #cuts: FlowCuts
  readonly #entries = new Map<string, TrackedEntry>()
  readonly #mutex = new Mutex()

  constructor({ config, helper, log, clock = systemClock, drainFile }: MemberFlowsOptions) {
    this.#cuts = new FlowCuts({
      ...{ helper, log, clock },
      file: drainFile ?? null,
      find: (key) => {
        const entry = this.#entries.get(key)
        return entry === undefined ? undefined : { netns: domainNames(config, entry.domain).netns, entry }
      },
      onDue: () => void this.#mutex.run(() => this.#cuts.run()),
    })
  }

  adopt(previous: readonly WantedEntry[]): Promise<void> {
    return this.#mutex.run(async () => {
      this.#entries.clear()
      for (const wanted of previous) this.#entries.set(wanted.key, trackedEntry(wanted))
      await this.#cuts.adopt(this.#entries.values())
    })
  }

  /** Never fails; a failed cut is repeated. */
  apply(changes: {
    readonly put: readonly WantedEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    return this.#mutex.run(async () => {
      for (const wanted of changes.put) {
        const after = trackedEntry(wanted)
        this.#cuts.follow(this.#entries.get(wanted.key) ?? null, after)
        this.#entries.set(wanted.key, after)
      }
      for (const key of changes.remove) {
        this.#entries.delete(key)
        this.#cuts.forget(key)
      }
      await this.#cuts.run()
      return []
    })
  }

  async observe(): Promise<readonly []> {
    return []
  }

  async close(): Promise<void> {
    this.#cuts.close()
    await this.#mutex.idle()
    this.#cuts.close()
  }
}
