import type { ProberOptions, ProbeSubscriber, SavedProbe } from '@spout/dataplane'
import { type HeldMember, KnownProbes, type MemberTraffic, PassiveChecks, Prober, probesOf } from '@spout/dataplane'
import { loadBalancerKey, loadBalancerOfKey } from '@spout/model/entry-keys'
import type { MemberHealth } from '@spout/model/node-report'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { systemClock } from '@spout/runtime'
import type { SavedEntry } from './state-file.ts'

export interface MemberHealthFeedOptions {
  readonly prober: Omit<ProberOptions, 'saved' | 'onChange'>
  /** The entries that an earlier process saved. */
  readonly saved: ReadonlyMap<string, SavedEntry>
  readonly onHealth: (health: MemberHealth) => void
  readonly onProbedNoMore: (member: ProbeSubscriber) => void
  readonly onDown: (key: string, members: ReadonlySet<string>) => void
}

/** Has the members of applied entries checked, by probes and in their traffic, and passes on their health. */
export class MemberHealthFeed {
  readonly #options: MemberHealthFeedOptions
  readonly #prober: Prober
  readonly #passive: PassiveChecks
  readonly #probes = new KnownProbes()

  constructor(options: MemberHealthFeedOptions) {
    this.#options = options
    this.#prober = new Prober({
      ...options.prober,
      saved: savedProbes(options.saved, (options.prober.clock?.now() ?? new Date()).toISOString()),
      onChange: (changed) => this.#hand(changed),
    })
    this.#passive = new PassiveChecks({
      clock: options.prober.clock ?? systemClock,
      down: (key) => this.#prober.down(key),
      checked: (key, memberId) => this.#prober.record(key, memberId),
      onChange: (key, member, held) => this.#takeOut(key, member, held),
    })
  }

  /** Whether any pool has passive checks, so that `traffic` must be called. */
  get wantsTraffic(): boolean {
    return this.#passive.isWatching
  }

  traffic(counted: readonly MemberTraffic[]): void {
    this.#passive.take(counted)
  }

  /**
   * The data plane now follows this entry; null when it forgot the key.
   * @param projectId the owner of its probes; null if not known
   */
  applied(key: string, entry: LoadBalancerEntry | null, projectId: string | null): void {
    const left = this.#prober.put(key, entry === null ? [] : this.#probes.of(entry, projectId))
    for (const member of left) this.#options.onProbedNoMore(member)
    this.#passive.put(key, entry)
    if (entry !== null) this.#options.onDown(key, this.down(key))
  }

  close(): void {
    this.#passive.close()
    this.#prober.close()
  }

  /** Ids of an entry's members that are down. */
  down(key: string): ReadonlySet<string> {
    const held = this.#passive.held(key)
    return held.size === 0 ? this.#prober.down(key) : new Set([...this.#prober.down(key), ...held.keys()])
  }

  #takeOut(key: string, { poolId, memberId }: Pick<HeldMember, 'poolId' | 'memberId'>, held: HeldMember | null): void {
    const checked = this.#prober.health(key).find((health) => health.memberId === memberId)
    const loadBalancerId = loadBalancerOfKey(key)!
    if (held !== null) this.#options.onHealth({ loadBalancerId, ...held, health: 'down' })
    else if (checked !== undefined) this.#options.onHealth(checked)
    else this.#options.onProbedNoMore({ loadBalancerId, poolId, memberId })
    this.#options.onDown(key, this.down(key))
  }

  #hand(changed: readonly MemberHealth[]): void {
    // A member that passive checks took down stays down for its time, even if probes succeed.
    for (const health of changed)
      if (health.health === 'down' || !this.#passive.held(loadBalancerKey(health.loadBalancerId)).has(health.memberId))
        this.#options.onHealth(health)
    for (const key of new Set(changed.map(({ loadBalancerId }) => loadBalancerKey(loadBalancerId))))
      this.#options.onDown(key, this.down(key))
  }
}

/**
 * The state of probes after a restart. Members that were down stay down until they pass `rise` checks; the others need
 * `fall` failures to go down. The state file holds no more than that, which suffices for a restart to move no flow.
 */
const savedProbes = (saved: ReadonlyMap<string, SavedEntry>, since: string): readonly SavedProbe[] =>
  [...saved.values()].flatMap(({ entry, down }) =>
    entry.kind !== 'load-balancer'
      ? []
      : probesOf(entry, null).map(({ target, subscriber }) => ({
          target,
          state: down.has(subscriber.memberId)
            ? { health: 'down' as const, against: 0, reason: 'down before the agent was restarted' }
            : { health: 'up' as const, against: 0, reason: null },
          since,
        })),
  )
