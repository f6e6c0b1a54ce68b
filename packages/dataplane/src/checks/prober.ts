import type { MemberHealth } from '@spout/model'
import { type Clock, systemClock } from '@spout/runtime'
import type { Log } from '@spout/sys'
import type { CheckTarget, HealthCheck } from '../contracts/check.ts'
import { EndpointProbe } from './endpoint-probe.ts'
import type { HealthState } from './health-state.ts'
import type { CheckRecord } from './passive-checks.ts'
import { ProbeGate, type ProbeLimits } from './probe-gate.ts'
import { type ProbeSubscriber, probeKey, type WantedProbe } from './probe-plan.ts'

/** The state of an endpoint that is kept over a restart of the agent. */
export interface SavedProbe {
  readonly target: CheckTarget
  readonly state: HealthState
  readonly since: string
}

export interface ProberOptions {
  readonly checks: readonly HealthCheck[]
  readonly log: Log
  /** Limits of each tenant's probes. Default `PROBE_LIMITS`. */
  readonly limits?: ProbeLimits
  readonly clock?: Clock
  /** Uniform in [0, 1); spreads the probes. */
  readonly random?: () => number
  /** States from before a restart. New probes of these endpoints start with them instead of `unknown`. */
  readonly saved?: readonly SavedProbe[]
  /** Health or reason of members changed. Must not throw. */
  readonly onChange: (changed: readonly MemberHealth[]) => void
}

interface Names {
  /** Of the probe. */
  readonly key: string
  /** Of the subscriber. */
  readonly name: string
}

interface SharedProbe {
  readonly probe: EndpointProbe
  /** By load balancer, pool and member. */
  readonly subscribers: Map<string, ProbeSubscriber>
}

/**
 * Probes every wanted endpoint, once for all pools that probe it in the same way. New endpoints are `unknown` and get
 * traffic until their first result.
 */
export class Prober {
  readonly #checks: ReadonlyMap<string, HealthCheck>
  readonly #options: ProberOptions
  readonly #gate: ProbeGate
  readonly #saved: Map<string, SavedProbe>
  readonly #probes = new Map<string, SharedProbe>()
  /** Owner -> probe key by subscriber. */
  readonly #wanted = new Map<string, ReadonlyMap<string, string>>()
  /** The names of probes that were wanted before: most are the same objects whenever their load balancer changes. */
  readonly #names = new WeakMap<WantedProbe, Names>()

  constructor(options: ProberOptions) {
    this.#options = options
    this.#checks = new Map(options.checks.map((check) => [check.type, check]))
    this.#gate = new ProbeGate(options.clock ?? systemClock, options.limits)
    this.#saved = new Map(options.saved?.map((saved) => [probeKey(saved.target), saved]))
  }

  /** Probes that waited for a place or a rate, since the start. */
  get delayed(): number {
    return this.#gate.delayed
  }

  /** Counts the probed endpoints. */
  get size(): number {
    return this.#probes.size
  }

  /**
   * Replaces the probes that one owner (the key of a load balancer's entry) wants. Unchanged probes continue, whoever
   * else uses them. If an endpoint is known already, its state is reported at once.
   * @returns the members that are probed no more
   */
  put(owner: string, wanted: readonly WantedProbe[]): readonly ProbeSubscriber[] {
    const before = this.#wanted.get(owner)
    const next = new Map<string, string>()
    const joined: MemberHealth[] = []
    for (const probe of wanted) {
      const { target, subscriber, owner: whose } = probe
      const { key, name } = this.#namesOf(probe)
      next.set(name, key)
      if (before?.get(name) === key) continue
      const shared = this.#probes.get(key) ?? this.#start(key, target, whose, this.#probes.get(before?.get(name) ?? ''))
      if (shared === null) continue
      shared.subscribers.set(name, subscriber)
      joined.push(memberHealth(shared.probe, subscriber))
    }
    const left: ProbeSubscriber[] = []
    for (const [name, key] of before ?? []) if (next.get(name) !== key) left.push(...this.#leave(key, name))
    if (next.size > 0) this.#wanted.set(owner, next)
    else this.#wanted.delete(owner)
    if (joined.length > 0) this.#options.onChange(joined)
    if (left.length === 0) return left
    const probed = new Set(this.#subscriptions(owner).map(([, { memberId }]) => memberId))
    return left.filter(({ memberId }) => !probed.has(memberId))
  }

  /** Removes all probes of this owner. */
  remove(owner: string): void {
    this.put(owner, [])
  }

  /** Ids of this owner's members that are down. */
  down(owner: string): ReadonlySet<string> {
    const down = new Set<string>()
    for (const [name, key] of this.#wanted.get(owner) ?? []) {
      const shared = this.#probes.get(key)
      if (shared?.probe.state.health !== 'down') continue
      const subscriber = shared.subscribers.get(name)
      if (subscriber !== undefined) down.add(subscriber.memberId)
    }
    return down
  }

  /** Health of this owner's members. */
  health(owner: string): readonly MemberHealth[] {
    return this.#subscriptions(owner).map(([probe, subscriber]) => memberHealth(probe, subscriber))
  }

  /** The results of a member's check since its probes began; null if it is not probed. */
  record(owner: string, memberId: string): CheckRecord | null {
    const found = this.#subscriptions(owner).find(([, subscriber]) => subscriber.memberId === memberId)
    return found?.[0].record ?? null
  }

  /** The states to keep over a restart, without unknown endpoints. */
  save(): readonly SavedProbe[] {
    return [...this.#probes.values()]
      .filter(({ probe }) => probe.state.health !== 'unknown')
      .map(({ probe: { target, state, since } }) => ({ target, state, since }))
  }

  close(): void {
    for (const { probe } of this.#probes.values()) probe.close()
    this.#gate.close()
    this.#probes.clear()
    this.#wanted.clear()
  }

  /**
   * `former` is the probe that the first subscriber had, so that a change of the interval does not bring a down
   * endpoint back into traffic.
   */
  #start(
    key: string,
    target: CheckTarget,
    owner: WantedProbe['owner'],
    former: SharedProbe | undefined,
  ): SharedProbe | null {
    const { clock = systemClock, random = Math.random, log, onChange } = this.#options
    const check = this.#checks.get(target.spec.type)
    if (check === undefined) {
      log.warn({ type: target.spec.type }, 'no check of this type: the endpoint stays unknown')
      return null
    }
    const subscribers = new Map<string, ProbeSubscriber>()
    const probe = new EndpointProbe({
      target,
      owner,
      check,
      clock,
      random,
      gate: this.#gate,
      initial: this.#saved.get(key) ?? (former && sameEndpoint(former.probe.target, target) ? former.probe : null),
      onChange: () => onChange([...subscribers.values()].map((subscriber) => memberHealth(probe, subscriber))),
      onError: (error) => log.debug({ address: target.address, error: String(error) }, 'a probe could not be made'),
    })
    this.#saved.delete(key)
    const shared = { probe, subscribers }
    this.#probes.set(key, shared)
    return shared
  }

  /** @returns who left, if anybody */
  #leave(key: string, name: string): readonly ProbeSubscriber[] {
    const shared = this.#probes.get(key)
    const subscriber = shared?.subscribers.get(name)
    if (shared === undefined || subscriber === undefined) return []
    shared.subscribers.delete(name)
    if (shared.subscribers.size === 0) {
      shared.probe.close()
      this.#probes.delete(key)
    }
    return [subscriber]
  }

  #namesOf(probe: WantedProbe): Names {
    const known = this.#names.get(probe)
    if (known !== undefined) return known
    const names = { key: probeKey(probe.target), name: subscriberName(probe.subscriber) }
    this.#names.set(probe, names)
    return names
  }

  #subscriptions(owner: string): readonly (readonly [EndpointProbe, ProbeSubscriber])[] {
    return [...(this.#wanted.get(owner) ?? [])].flatMap(([name, key]) => {
      const shared = this.#probes.get(key)
      const subscriber = shared?.subscribers.get(name)
      return shared === undefined || subscriber === undefined ? [] : [[shared.probe, subscriber] as const]
    })
  }
}

const sameEndpoint = (a: CheckTarget, b: CheckTarget): boolean =>
  a.domain === b.domain && a.address === b.address && a.port === b.port && a.spec.type === b.spec.type

const subscriberName = ({ loadBalancerId, poolId, memberId }: ProbeSubscriber): string =>
  `${loadBalancerId}/${poolId}/${memberId}`

const memberHealth = (probe: EndpointProbe, subscriber: ProbeSubscriber): MemberHealth => ({
  ...subscriber,
  health: probe.state.health,
  reason: probe.state.reason,
  since: probe.since,
})
