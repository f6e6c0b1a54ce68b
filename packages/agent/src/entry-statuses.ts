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
  /** Addresses announced for a key now. */
  readonly announced: (key: string) => readonly string[]
  readonly onReport: (report: EntryReport) => void
  /** The node no longer holds this key. */
  readonly onRemoved: (key: string) => void
  /**
   * The data plane follows this entry now; null when it forgot the key.
   * @param projectId whose its tenant network is; null where that is not known
   */
  readonly onApplied: (key: string, entry: LoadBalancerEntry | null, projectId: string | null) => void
  /** What failed is to be tried again. */
  readonly onDue: (keys: readonly string[]) => void
  readonly onHealth: (healthy: boolean, reason: string) => void
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/**
 * What became of each entry on this node: what the data plane confirmed, which is kept on disk; what failed, and when it is
 * tried again; what was lost and not mended yet. All of it is reported.
 */
export class EntryStatuses {
  readonly #options: EntryStatusesOptions
  readonly #applied = new AppliedState()
  readonly #retries: RetrySchedule
  readonly #broken: BrokenKeys
  /** Why what failed last did: what depends on it fails for the same reason. */
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

  /** Why the entry is not as it shall be; null when nothing is known against it. */
  failure(key: string): Failure | null {
    return this.#failures.get(key) ?? null
  }

  /** How many load balancers the data plane holds in a domain. */
  countIn(domain: number): number {
    return this.#applied.countIn(domain)
  }

  /** The data plane holds it. It counts as done once its addresses are announced too. */
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

  /** Nothing is left to do for what was confirmed. */
  done(key: string): void {
    this.#failures.delete(key)
    this.#retries.succeeded(key)
    this.#report(key, this.#applied.get(key)?.hash ?? '', null)
  }

  /** It keeps its previous state and is tried again. */
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

  /** Has these tried again later; what is known of them stands. */
  postpone(keys: readonly string[]): void {
    for (const key of keys) this.#retries.failed(key)
  }

  /** The node is rid of it. */
  forget(key: string): void {
    this.#broken.mended(key)
    this.#applied.delete(key)
    this.#failures.delete(key)
    this.#retries.succeeded(key)
    this.#options.state.delete(key)
    if (isLoadBalancerKey(key)) this.#options.onApplied(key, null, null)
    this.#options.onRemoved(key)
  }

  /** The data plane holds these load balancers no longer. */
  lost(keys: Iterable<string>): void {
    this.#broken.lost(keys)
  }

  /** What could be mended was: draws the conclusion whether this node can carry traffic. */
  settle(): void {
    this.#broken.settle(() => this.#options.wanted.loadBalancers)
  }

  /** Nothing is tried again from here on. */
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
