import type { ShardReport, ShardStatus, VipMove } from '@spout/model'
import { Ring } from './ring.ts'

/** One node's report of one shard, and when this process received it. */
interface Claim {
  readonly report: ShardReport
  /** When this state was first reported, in monotonic milliseconds. */
  readonly claimedAtMs: number
  heardAtMs: number
}

/**
 * Two masters are a conflict only if both report it again after this time. Before that, one report may just be late.
 */
const CONFLICT_AFTER_MS = 1000
/** A longer difference between the times of two nodes is an error of their clocks, not the duration of a takeover. */
const LONGEST_TAKEOVER_MS = 60_000
const MOST_MOVES = 64
/**
 * Tolerance for the clocks of two nodes: a release that is later than the takeover by more than this did not cause it.
 */
const CLOCKS_DIFFER_MS = 50

/**
 * The state of one shard, from its nodes' reports. The newest claim to be master counts, so that a node that took over
 * replaces a master that died. There are two owners only if the earlier master keeps claiming the shard.
 */
export class ShardRecord {
  readonly #claims = new Map<string, Claim>()
  readonly #moves = new Ring<VipMove>(MOST_MOVES)
  #ownerNodeId: string | null = null
  #ownerChangedAtMs: number
  #lastOwner: { readonly nodeId: string; readonly releasedAt: string | null } | null = null

  constructor(nowMs: number) {
    this.#ownerChangedAtMs = nowMs
  }

  get isEmpty(): boolean {
    return this.#claims.size === 0
  }

  get ownerChangedAtMs(): number {
    return this.#ownerChangedAtMs
  }

  moves(): readonly VipMove[] {
    return this.#moves.entries()
  }

  /** @returns the takeover that this report reveals; null if it reveals none */
  report(nodeId: string, report: ShardReport, nowMs: number): VipMove | null {
    const before = this.#claims.get(nodeId)
    const same = before?.report.state === report.state && before.report.since === report.since
    this.#claims.set(nodeId, { report, claimedAtMs: same ? before.claimedAtMs : nowMs, heardAtMs: nowMs })
    if (same) return null
    this.#noteLateRelease(nodeId, report)
    return this.#settle(nowMs)
  }

  /** Records why the old owner released the shard, if its report arrives after that of the new owner. */
  #noteLateRelease(nodeId: string, report: ShardReport): void {
    const last = this.#lastOwner
    if (last?.nodeId !== nodeId || last.releasedAt !== null || report.state === 'master') return
    const taken = this.#moves.entries().at(-1)
    if (taken?.event !== 'taken' || taken.nodeId !== this.#ownerNodeId) return
    // A node that released it only later, because it noticed the new owner, did not cause the takeover.
    if (Date.parse(report.since) > Date.parse(taken.at) + CLOCKS_DIFFER_MS) return
    this.#lastOwner = { nodeId, releasedAt: report.since }
    this.#moves.putBeforeLast(released(nodeId, report))
  }

  heard(nodeId: string, nowMs: number): void {
    const claim = this.#claims.get(nodeId)
    if (claim !== undefined) claim.heardAtMs = nowMs
  }

  forget(nodeId: string, nowMs: number): VipMove | null {
    return this.#claims.delete(nodeId) ? this.#settle(nowMs) : null
  }

  status(nodeGroupId: string, number: number, nowMs: number): ShardStatus {
    const masters = this.#conflicting()
    const moving = this.#ownerNodeId === null && nowMs - this.#ownerChangedAtMs < CONFLICT_AFTER_MS
    return {
      nodeGroupId,
      number,
      ownerNodeId: this.#ownerNodeId,
      state:
        masters.length > 1 ? 'two-owners' : this.#ownerNodeId !== null ? 'settled' : moving ? 'moving' : 'no-owner',
      masterNodeIds: masters.length > 1 ? masters : this.#ownerNodeId === null ? [] : [this.#ownerNodeId],
      nodes: [...this.#claims]
        .map(([nodeId, { report }]) => ({ nodeId, state: report.state, since: report.since }))
        .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)),
    }
  }

  /** By node id, so that nothing depends on the order of reports that say the same. */
  #masters(): readonly (readonly [string, Claim])[] {
    return [...this.#claims].filter(([, { report }]) => report.state === 'master').sort(([a], [b]) => (a < b ? -1 : 1))
  }

  /** Masters that still claim the shard `CONFLICT_AFTER_MS` after the newest of them was first reported. */
  #conflicting(): readonly string[] {
    const masters = this.#masters()
    const newestMs = Math.max(...masters.map(([, { claimedAtMs }]) => claimedAtMs))
    const insisting = masters.filter(([, { heardAtMs }]) => heardAtMs >= newestMs + CONFLICT_AFTER_MS)
    return insisting.length > 1 ? insisting.map(([nodeId]) => nodeId).sort() : []
  }

  #settle(nowMs: number): VipMove | null {
    const newest = this.#masters().reduce<readonly [string, Claim] | null>(
      (best, one) => (best === null || isNewer(one[1], best[1]) ? one : best),
      null,
    )
    const before = this.#ownerNodeId
    const now = newest?.[0] ?? null
    if (now === before) return null
    this.#ownerNodeId = now
    this.#ownerChangedAtMs = nowMs
    if (before !== null) {
      const left = this.#claims.get(before)?.report
      const hasLeft = left !== undefined && left.state !== 'master'
      this.#lastOwner = { nodeId: before, releasedAt: hasLeft ? left.since : null }
      if (hasLeft) this.#moves.push(released(before, left))
    }
    if (newest === null) return null
    const move = this.#takeover(newest[0], newest[1].report)
    this.#moves.push(move)
    return move
  }

  #takeover(nodeId: string, { since, lastMove }: ShardReport): VipMove {
    const from = this.#lastOwner?.nodeId === nodeId ? null : this.#lastOwner
    const reported = lastMove?.to === 'master' ? lastMove : null
    return {
      at: since,
      event: 'taken',
      nodeId,
      fromNodeId: from?.nodeId ?? null,
      reason: reported?.reason ?? null,
      durationMs: reported?.silentMs ?? between(from?.releasedAt ?? null, since),
    }
  }
}

const released = (nodeId: string, { since, lastMove }: ShardReport): VipMove => ({
  at: since,
  event: 'released',
  nodeId,
  fromNodeId: null,
  reason: lastMove?.reason ?? null,
  durationMs: null,
})

const isNewer = (a: Claim, b: Claim): boolean =>
  a.claimedAtMs > b.claimedAtMs || (a.claimedAtMs === b.claimedAtMs && a.report.since > b.report.since)

export function between(from: string | null, to: string): number | null {
  if (from === null) return null
  const ms = Date.parse(to) - Date.parse(from)
  return ms >= 0 && ms <= LONGEST_TAKEOVER_MS ? ms : null
}
