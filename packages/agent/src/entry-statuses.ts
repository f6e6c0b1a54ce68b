import type { Shares } from '@spout/dataplane'
import { domainKey, isLoadBalancerKey } from '@spout/model/entry-keys'
import type { EntryReport } from '@spout/model/node-report'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import type { Clock, Logger } from '@spout/runtime'
import { AppliedState } from './applied-state.ts'
import type { Failure } from './apply-result.ts'
import { BrokenKeys } from './broken-keys.ts'
import { RetrySchedule } from './retry-schedule.ts'
import type { StateFile } from './state-file.ts'
import type { Held, WantedState } from './wanted-state.ts'

export interface EntryStatusesOptions {
  readonly wanted: Pick<WantedState, 'get' | 'loadBalancers'>
  readonly state: StateFile
  /** The addresses that are announced for a key now. */
  readonly announced: (key: string) => readonly string[]
  readonly onReport: (report: EntryReport) => void
  /** The node no longer holds this key. */
  readonly onRemoved: (key: string) => void
  /**
   * The data plane now follows this entry; null when it forgot the key.
   * @param projectId the project of its tenant network; null if not known
   */
  readonly onApplied: (key: string, entry: LoadBalancerEntry | null, projectId: string | null) => void
  /** Called with failed keys that must be retried now. */
  readonly onDue: (keys: readonly string[]) => void
  readonly onHealth: (healthy: boolean, reason: string) => void
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/**
 * The status of each entry on this node: confirmed by the data plane (kept on disk), failed and when to retry, or lost
 * and not repaired yet. Reports every change.
 */
export class EntryStatuses {
  readonly #options: EntryStatusesOptions
  readonly #applied = new AppliedState()
  readonly #retries: RetrySchedule
  readonly #broken: BrokenKeys
  /** The reason of each entry's last failure. Entries that depend on it fail for the same reason. */
  readonly #failures = new Map<string, Failure>()

  constructor(options: EntryStatusesOptions) {
    this.#options = options
    this.#retries = new RetrySchedule(options.clock, options.random, options.onDue)
    this.#broken = new BrokenKeys(options.onHealth)
  }

  /** The entry as the data plane holds it. */
  get(key: string): Held | undefined {
    return this.#applied.get(key)
  }

  /** Why the entry is not applied; null if no failure is known. */
  failure(key: string): Failure | null {
    return this.#failures.get(key) ?? null
  }

  /** Counts the load balancers that the data plane holds in a domain. */
  countIn(domain: number): number {
    return this.#applied.countIn(domain)
  }

  /** The data plane holds the entry. It is done when its addresses are announced, too. */
  confirm(key: string, held: Held, down: ReadonlySet<string>, shares?: Shares): void {
    this.#applied.put(key, held)
    this.#failures.delete(key)
    this.#broken.mended(key)
    if (held.entry.kind === 'load-balancer') this.#options.onApplied(key, held.entry, this.#projectOf(held.entry))
    this.#options.state.put(key, held.hash, held.entry, down, shares)
  }

  #projectOf({ domain }: LoadBalancerEntry): string | null {
    const held = this.#applied.get(domainKey(domain))?.entry
    return held?.kind === 'domain' ? (held.projectId ?? null) : null
  }

  /** Everything is done for a confirmed entry. */
  done(key: string): void {
    this.#failures.delete(key)
    this.#retries.succeeded(key)
    this.#report(key, this.#applied.get(key)?.hash ?? '', null)
  }

  /** The entry keeps its previous state and is retried. */
  fail(key: string, failure: Failure): void {
    const hash = this.#options.wanted.get(key)?.hash ?? this.#applied.get(key)?.hash ?? ''
    this.#failures.set(key, failure)
    this.#retries.failed(key)
    const attempts = this.#retries.attempts(key)
    this.#options.log[attempts === 1 ? 'warn' : 'debug'](
      { event: 'entry-failed', key, ...failure, attempts },
      'the entry keeps its previous state; will try again',
    )
    this.#report(key, hash, failure)
  }

  /** Schedules a retry without changing the status. */
  postpone(keys: readonly string[]): void {
    for (const key of keys) this.#retries.failed(key)
  }

  /** The node has removed the entry. */
  forget(key: string): void {
    this.#broken.mended(key)
    this.#applied.delete(key)
    this.#failures.delete(key)
    this.#retries.succeeded(key)
    this.#options.state.delete(key)
    if (isLoadBalancerKey(key)) this.#options.onApplied(key, null, null)
    this.#options.onRemoved(key)
  }

  /** The data plane no longer holds these load balancers. */
  lost(keys: Iterable<string>): void {
    this.#broken.lost(keys)
  }

  /** Called after the repair: decides whether this node can carry traffic. */
  settle(): void {
    this.#broken.settle(() => this.#options.wanted.loadBalancers)
  }

  /** Ends all retries. */
  close(): void {
    this.#retries.close()
  }

  #report(key: string, hash: string, failure: Failure | null): void {
    this.#options.onReport({
      key,
      hash,
      state: failure === null ? 'programmed' : 'failed',
      reason: failure?.reason ?? null,
      message: failure?.message ?? null,
      announced: this.#options.announced(key),
    })
  }
}
