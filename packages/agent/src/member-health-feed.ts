import type { ProberOptions, SavedProbe } from '@spout/dataplane'
import { Prober, probesOf } from '@spout/dataplane'
import type { MemberHealth } from '@spout/model/node-report'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import type { SavedEntry } from './state-file.ts'

export interface MemberHealthFeedOptions {
  readonly prober: Omit<ProberOptions, 'saved' | 'onChange'>
  /** What an earlier process knew. */
  readonly saved: ReadonlyMap<string, SavedEntry>
  readonly onHealth: (health: MemberHealth) => void
  readonly onProbedNoMore: (member: MemberHealth) => void
  readonly onDown: (key: string, members: ReadonlySet<string>) => void
}

/** Keeps the prober at what the applied entries ask for, and hands on what it finds. */
export class MemberHealthFeed {
  readonly #options: MemberHealthFeedOptions
  readonly #prober: Prober

  constructor(options: MemberHealthFeedOptions) {
    this.#options = options
    this.#prober = new Prober({
      ...options.prober,
      saved: savedProbes(options.saved, (options.prober.clock?.now() ?? new Date()).toISOString()),
      onChange: (changed) => this.#hand(changed),
    })
  }

  /** The data plane follows this entry now; null when it forgot the key. */
  applied(key: string, entry: LoadBalancerEntry | null): void {
    const before = this.#prober.health(key)
    this.#prober.put(key, entry === null ? [] : probesOf(entry))
    if (before.length > 0) {
      const probed = new Set(this.#prober.health(key).map(({ memberId }) => memberId))
      for (const member of before) if (!probed.has(member.memberId)) this.#options.onProbedNoMore(member)
    }
    if (entry !== null) this.#options.onDown(key, this.#prober.down(key))
  }

  close(): void {
    this.#prober.close()
  }

  #hand(changed: readonly MemberHealth[]): void {
    for (const health of changed) this.#options.onHealth(health)
    for (const key of new Set(changed.map(({ loadBalancerId }) => `lb/${loadBalancerId}`)))
      this.#options.onDown(key, this.#prober.down(key))
  }
}

/**
 * Where probes go on after a restart: members that got no traffic stay out until they answer as often as a rise asks
 * for, and the others need as many failures as ever to go. The state file knows no more than that, and that is enough
 * for a restart to move no flow.
 */
const savedProbes = (saved: ReadonlyMap<string, SavedEntry>, since: string): readonly SavedProbe[] =>
  [...saved.values()].flatMap(({ entry, down }) =>
    entry.kind !== 'load-balancer'
      ? []
      : probesOf(entry).map(({ target, subscriber }) => ({
          target,
          state: down.has(subscriber.memberId)
            ? { health: 'down' as const, against: 0, reason: 'down before the agent was restarted' }
            : { health: 'up' as const, against: 0, reason: null },
          since,
        })),
  )
