import type { Ip, IpRange } from '@spout/net'
import { NumberRuns } from './number-runs.ts'

/** The quarantine of a released address. Until `untilMs` only the project that had it last may get it. */
export interface Rest {
  readonly projectId: string | null
  readonly untilMs: number
}

interface Due {
  readonly ip: Ip
  readonly untilMs: number
}

/** A map key. IPv4 and IPv6 addresses of the same value differ. */
const keyOf = (ip: Ip): string => `${ip.version}:${ip.value.toString(36)}`

/**
 * An index of the addresses of one address pool or network that are in use, held for a write under way, or in
 * quarantine. The watch of the Address objects updates it. A lookup is a binary search.
 */
export class AddressIndex {
  readonly #taken = new Set<string>()
  readonly #held = new Set<string>()
  readonly #resting = new Map<string, Rest>()
  readonly #due: Due[] = []
  readonly #occupied = { 4: new NumberRuns(), 6: new NumberRuns() } as const

  /** Marks the address as in use (`rest` null) or in quarantine. */
  put(ip: Ip, rest: Rest | null): void {
    const key = keyOf(ip)
    if (rest === null) {
      this.#resting.delete(key)
      this.#taken.add(key)
    } else {
      this.#taken.delete(key)
      this.#resting.set(key, rest)
      this.#insertDue({ ip, untilMs: rest.untilMs })
    }
    this.#occupied[ip.version].add(ip.value)
  }

  /** Removes the address: its object was deleted. */
  remove(ip: Ip): void {
    this.#taken.delete(keyOf(ip))
    this.#resting.delete(keyOf(ip))
    this.#settle(ip)
  }

  /** Keeps the address from other allocations while a write is under way. */
  hold(ip: Ip): void {
    this.#held.add(keyOf(ip))
    this.#occupied[ip.version].add(ip.value)
  }

  /** Ends a hold. The address is then in the state of its object, or free. */
  unhold(ip: Ip): void {
    this.#held.delete(keyOf(ip))
    this.#settle(ip)
  }

  /** Whether the project may take exactly this address now. */
  isFreeFor(ip: Ip, projectId: string | null, nowMs: number): boolean {
    const key = keyOf(ip)
    if (this.#taken.has(key) || this.#held.has(key)) return false
    const rest = this.#resting.get(key)
    return rest === undefined || rest.untilMs <= nowMs || (rest.projectId !== null && rest.projectId === projectId)
  }

  /**
   * The lowest free address of the ranges. If there is none, one that this project released and that is in quarantine.
   */
  lowestFree(ranges: readonly IpRange[], projectId: string | null, nowMs: number): Ip | null {
    this.#wake(nowMs)
    for (const range of ranges) {
      const value = this.#occupied[range.version].lowestMissing(range.first, range.last)
      if (value !== null) return { version: range.version, value }
    }
    return this.#ownResting(ranges, projectId)
  }

  /** The highest free address of the ranges. */
  highestFree(ranges: readonly IpRange[], nowMs: number): Ip | null {
    this.#wake(nowMs)
    for (const range of [...ranges].reverse()) {
      const value = this.#occupied[range.version].highestMissing(range.first, range.last)
      if (value !== null) return { version: range.version, value }
    }
    return null
  }

  /** How many addresses of the ranges are in use, held or in quarantine. */
  occupiedWithin(ranges: readonly IpRange[], nowMs: number): bigint {
    this.#wake(nowMs)
    return ranges.reduce((sum, range) => sum + this.#occupied[range.version].countWithin(range.first, range.last), 0n)
  }

  /** Frees the addresses whose quarantine is over. */
  #wake(nowMs: number): void {
    let awake = 0
    for (; awake < this.#due.length && this.#due[awake]!.untilMs <= nowMs; awake++) {
      const { ip, untilMs } = this.#due[awake]!
      const rest = this.#resting.get(keyOf(ip))
      if (rest === undefined || rest.untilMs !== untilMs) continue
      this.#resting.delete(keyOf(ip))
      this.#settle(ip)
    }
    if (awake > 0) this.#due.splice(0, awake)
  }

  #settle(ip: Ip): void {
    const key = keyOf(ip)
    if (!this.#taken.has(key) && !this.#held.has(key) && !this.#resting.has(key))
      this.#occupied[ip.version].delete(ip.value)
  }

  #insertDue(due: Due): void {
    let low = 0
    let high = this.#due.length
    // Quarantines nearly always end in the order in which they began.
    if (high > 0 && this.#due[high - 1]!.untilMs <= due.untilMs) low = high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#due[middle]!.untilMs <= due.untilMs) low = middle + 1
      else high = middle
    }
    this.#due.splice(low, 0, due)
  }

  #ownResting(ranges: readonly IpRange[], projectId: string | null): Ip | null {
    if (projectId === null) return null
    for (const { ip, untilMs } of this.#due) {
      const key = keyOf(ip)
      const rest = this.#resting.get(key)
      if (rest?.untilMs !== untilMs || rest.projectId !== projectId || this.#held.has(key)) continue
      const inside = ranges.some(
        (range) => range.version === ip.version && range.first <= ip.value && ip.value <= range.last,
      )
      if (inside) return ip
    }
    return null
  }
}
