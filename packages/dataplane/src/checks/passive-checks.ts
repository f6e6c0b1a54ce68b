import type { LoadBalancerEntry, NodePool, PassiveSpec } from '@spout/model/node-state'
import { isPanicking } from '@spout/plan/effective-members'
import type { Clock, Timer } from '@spout/runtime'
import type { MemberTraffic } from '../contracts/driver.ts'

/** A member that was taken out because its traffic failed. */
export interface HeldMember {
  readonly poolId: string
  readonly memberId: string
  /** For people: `5 connections in a row failed`. */
  readonly reason: string
  /** RFC 3339. */
  readonly since: string
}

/** The results of a member's own check since it began: successes in total, and successes since the last failure. */
export interface CheckRecord {
  readonly successes: number
  readonly inRow: number
}

export interface PassiveChecksOptions {
  readonly clock: Clock
  /** Members of an entry that are down by their checks. */
  readonly down: (key: string) => ReadonlySet<string>
  /** Null for a member without a check. */
  readonly checked: (key: string, memberId: string) => CheckRecord | null
  /** A member was taken out (`held`) or let in again (null). */
  readonly onChange: (key: string, member: Pick<HeldMember, 'poolId' | 'memberId'>, held: HeldMember | null) => void
}

type Counters = Pick<MemberTraffic, 'connected' | 'notConnected' | 'answered' | 'badAnswers'>

/** The last counters of a member, and its failures since the last success. */
export interface Streak {
  readonly seen: Counters
  readonly failures: number
}

/**
 * Counts consecutive failures. One success resets the count, whoever made the request. So a client that provokes bad
 * responses cannot take out a member that serves others.
 */
export function nextStreak(before: Streak | undefined, seen: Counters, on: PassiveSpec['on']): Streak {
  if (before === undefined) return { seen, failures: 0 }
  const good = (of: Counters): number => (on === 'connection' ? of.connected : of.answered)
  const bad = (of: Counters): number => (on === 'connection' ? of.notConnected : of.notConnected + of.badAnswers)
  const failed = bad(seen) - bad(before.seen)
  // A new proxy process counts from zero.
  if (failed < 0 || good(seen) !== good(before.seen)) return { seen, failures: 0 }
  return { seen, failures: before.failures + failed }
}

/**
 * Whether one more ordinary member may be taken out. It may not if that exceeds `maxDownPercent`, if it is the last
 * one, or if the pool would reach the panic threshold. Traffic never takes out backup members.
 */
export function mayTakeOut(
  pool: Pick<NodePool, 'members' | 'panicThreshold'>,
  down: ReadonlySet<string>,
  memberId: string,
  maxDownPercent: number,
): boolean {
  const ordinary = pool.members.flatMap((member) =>
    member === null || member.backup || member.weight === 0 ? [] : [member.id],
  )
  if (!ordinary.includes(memberId)) return false
  const downThen = new Set([...down, memberId])
  const count = ordinary.filter((id) => downThen.has(id)).length
  return count < ordinary.length && 100 * count <= maxDownPercent * ordinary.length && !isPanicking(pool, downThen)
}

interface Hold {
  readonly held: HeldMember
  readonly untilMs: number
  /** The successes of its check before it was taken out, which do not count. */
  readonly successesBefore: number
  readonly rise: number
}

interface Watched {
  pools: ReadonlyMap<string, NodePool & { readonly passive: PassiveSpec }>
  readonly streaks: Map<string, Streak>
  /** By member id. */
  readonly holds: Map<string, Hold>
}

/** How often a member whose time is over is examined, until its check has succeeded often enough. */
const LOOK_EVERY_MS = 100

/** Passive checks: takes members out when their traffic fails, and lets them in again after a while. */
export class PassiveChecks {
  readonly #options: PassiveChecksOptions
  /** Entries with a watched pool. */
  readonly #watched = new Map<string, Watched>()
  #timer: Timer | null = null

  constructor(options: PassiveChecksOptions) {
    this.#options = options
  }

  /** Whether a pool is watched, so that `take` needs counters. */
  get isWatching(): boolean {
    return this.#watched.size > 0
  }

  /** The data plane now follows this entry; null when it forgot the key. */
  put(key: string, entry: LoadBalancerEntry | null): void {
    const pools = new Map(
      entry?.pools.flatMap((pool) =>
        pool.passive === undefined ? [] : [[pool.id, { ...pool, passive: pool.passive }] as const],
      ),
    )
    const before = this.#watched.get(key)
    if (pools.size === 0) this.#watched.delete(key)
    else if (before === undefined) this.#watched.set(key, { pools, streaks: new Map(), holds: new Map() })
    else before.pools = pools
    for (const [memberId, { held }] of before?.holds ?? [])
      if (!pools.get(held.poolId)?.members.some((member) => member?.id === memberId))
        this.#release(key, before!, memberId)
  }

  /** Takes the current counters of a driver. */
  take(traffic: readonly MemberTraffic[]): void {
    for (const counted of traffic) {
      const watched = this.#watched.get(counted.key)
      const pool = watched?.pools.get(counted.poolId)
      if (watched === undefined || pool === undefined) continue
      const name = `${counted.poolId}/${counted.memberId}`
      const streak = nextStreak(watched.streaks.get(name), counted, pool.passive.on)
      watched.streaks.set(name, streak)
      if (streak.failures >= pool.passive.failures) this.#hold(counted, watched, pool, streak.failures)
    }
  }

  held(key: string): ReadonlyMap<string, HeldMember> {
    return new Map(Array.from(this.#watched.get(key)?.holds ?? [], ([id, { held }]) => [id, held]))
  }

  close(): void {
    this.#timer?.clear()
    this.#watched.clear()
  }

  #hold(
    { key, poolId, memberId }: MemberTraffic,
    watched: Watched,
    pool: NodePool & { readonly passive: PassiveSpec },
    failures: number,
  ): void {
    const { clock, checked, down, onChange } = this.#options
    if (watched.holds.has(memberId)) return
    const others = new Set([...down(key), ...watched.holds.keys()])
    if (others.has(memberId) || !mayTakeOut(pool, others, memberId, pool.passive.maxDownPercent)) return
    const what = pool.passive.on === 'connection' ? 'connections' : 'requests'
    const reason = `${failures} ${what} in a row failed`
    const held = { poolId, memberId, reason, since: clock.now().toISOString() }
    watched.holds.set(memberId, {
      held,
      untilMs: clock.monotonicMs() + pool.passive.holdMs,
      successesBefore: checked(key, memberId)?.successes ?? 0,
      rise: pool.check?.rise ?? 1,
    })
    watched.streaks.delete(`${poolId}/${memberId}`)
    onChange(key, held, held)
    this.#look()
  }

  #look(): void {
    this.#timer?.clear()
    this.#timer = null
    const now = this.#options.clock.monotonicMs()
    let next = Number.POSITIVE_INFINITY
    for (const [key, watched] of this.#watched)
      for (const [memberId, hold] of [...watched.holds]) {
        if (now < hold.untilMs) next = Math.min(next, hold.untilMs - now)
        else if (this.#mayReturn(key, memberId, hold)) this.#release(key, watched, memberId)
        else next = Math.min(next, LOOK_EVERY_MS)
      }
    if (next < Number.POSITIVE_INFINITY) this.#timer = this.#options.clock.setTimer(() => this.#look(), next)
  }

  #mayReturn(key: string, memberId: string, { successesBefore, rise }: Hold): boolean {
    const record = this.#options.checked(key, memberId)
    // A member that is down by its check is left to the check.
    if (record === null || this.#options.down(key).has(memberId)) return true
    return record.inRow >= rise && record.successes - successesBefore >= rise
  }

  #release(key: string, watched: Watched, memberId: string): void {
    const hold = watched.holds.get(memberId)
    if (hold === undefined) return
    watched.holds.delete(memberId)
    // Requests that were in flight when the member was taken out do not count.
    watched.streaks.delete(`${hold.held.poolId}/${memberId}`)
    this.#options.onChange(key, hold.held, null)
  }
}
