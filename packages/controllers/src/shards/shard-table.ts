import type { ModelView } from '@spout/admission/contract'
import type { ShardReport, ShardStatus, VipMove } from '@spout/model'
import { type Clock, Listeners, type Logger, silentLogger, type Timer } from '@spout/runtime'
import { ShardRecord } from './shard-record.ts'

export interface ShardTableOptions {
  readonly view: ModelView
  readonly clock: Clock
  readonly log?: Logger
}

/** A takeover of a shard, for metrics. */
export interface ShardTakeover extends VipMove {
  readonly nodeGroupId: string
  readonly number: number
}

/** A transitional state that lasts longer is an alarm. */
export const MOVE_GRACE_MS = 2000
/** When a shard is reviewed again after its owner changed: once `moving` has ended, and once the grace time is over. */
const LOOK_AGAIN_MS = [1001, MOVE_GRACE_MS + 1] as const

type Listener = (nodeGroupId: string, number: number) => void

/** The state of all shards of all groups, from the nodes' reports: which node is master of which shard. */
export class ShardTable {
  readonly #options: ShardTableOptions
  readonly #log: Logger
  /** group id -> shard number */
  readonly #groups = new Map<string, Map<number, ShardRecord>>()
  /** node id -> the group that it reported in */
  readonly #groupOf = new Map<string, string>()
  readonly #listeners = new Set<Listener>()
  readonly #takeoverListeners = new Listeners<ShardTakeover>()
  readonly #timers = new Map<ShardRecord, readonly Timer[]>()
  /** The state last logged for a shard. */
  readonly #states = new Map<ShardRecord, ShardStatus['state']>()
  readonly #seenOwner = new Map<ShardRecord, string | null>()

  constructor(options: ShardTableOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger()
  }

  *shards(nodeGroupId: string): Iterable<ShardStatus> {
    const shards = this.#groups.get(nodeGroupId) ?? new Map<number, ShardRecord>()
    for (const number of [...shards.keys()].sort((a, b) => a - b)) {
      const status = this.shard(nodeGroupId, number)
      if (status !== null) yield status
    }
  }

  shard(nodeGroupId: string, number: number): ShardStatus | null {
    return this.#record(nodeGroupId, number)?.status(nodeGroupId, number, this.#nowMs()) ?? null
  }

  /** Milliseconds since the owner last changed; null if the shard is unknown. */
  changedForMs(nodeGroupId: string, number: number): number | null {
    const record = this.#record(nodeGroupId, number)
    return record === null ? null : this.#nowMs() - record.ownerChangedAtMs
  }

  moves(nodeGroupId: string, number: number): readonly VipMove[] {
    return this.#record(nodeGroupId, number)?.moves() ?? []
  }

  /** Call when the node reported. @param shards all shards in which it takes part; null if they did not change */
  report(nodeId: string, shards: readonly ShardReport[] | null): void {
    const groupId = this.#options.view.get('node', nodeId)?.value.nodeGroupId ?? null
    if (groupId === null) return
    if (this.#groupOf.get(nodeId) !== groupId) this.forget(nodeId)
    this.#groupOf.set(nodeId, groupId)
    const nowMs = this.#nowMs()
    if (shards === null) this.#each(groupId, (record) => record.heard(nodeId, nowMs))
    else {
      const reported = new Set(shards.map(({ number }) => number))
      this.#each(groupId, (record, number) => {
        if (!reported.has(number)) this.#moved(groupId, number, record.forget(nodeId, nowMs))
      })
      for (const report of shards) {
        const record = this.#recordFor(groupId, report.number)
        this.#moved(groupId, report.number, record.report(nodeId, report, nowMs))
      }
    }
    this.#each(groupId, (record, number) => this.#review(groupId, number, record))
  }

  forget(nodeId: string): void {
    const groupId = this.#groupOf.get(nodeId)
    if (groupId === undefined) return
    this.#groupOf.delete(nodeId)
    this.#each(groupId, (record, number) => {
      this.#moved(groupId, number, record.forget(nodeId, this.#nowMs()))
      this.#review(groupId, number, record)
    })
  }

  /** Calls the listener when a shard's owner or state changed. @returns the unsubscribe function */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Calls the listener with each takeover of a shard whose previous owner is known. @returns the unsubscribe function
   */
  onTakeover(listener: (takeover: ShardTakeover) => void): () => void {
    return this.#takeoverListeners.add(listener)
  }

  close(): void {
    for (const timers of this.#timers.values()) for (const timer of timers) timer.clear()
    this.#timers.clear()
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  #record(groupId: string, number: number): ShardRecord | null {
    return this.#groups.get(groupId)?.get(number) ?? null
  }

  #recordFor(groupId: string, number: number): ShardRecord {
    const shards = this.#groups.get(groupId) ?? new Map<number, ShardRecord>()
    this.#groups.set(groupId, shards)
    const known = shards.get(number)
    if (known !== undefined) return known
    const record = new ShardRecord(this.#nowMs())
    shards.set(number, record)
    this.#lookAgain(groupId, number, record)
    return record
  }

  #each(groupId: string, action: (record: ShardRecord, number: number) => void): void {
    for (const [number, record] of this.#groups.get(groupId) ?? []) action(record, number)
  }

  #moved(nodeGroupId: string, number: number, move: VipMove | null): void {
    if (move === null) return
    const { view } = this.#options
    const nameOf = (id: string | null) => (id === null ? null : (view.get('node', id)?.value.name ?? id))
    this.#log.info(
      {
        event: 'shard-taken',
        group: view.get('nodeGroup', nodeGroupId)?.value.name ?? nodeGroupId,
        shard: number,
        node: nameOf(move.nodeId),
        from: nameOf(move.fromNodeId),
        reason: move.reason,
        durationMs: move.durationMs,
      },
      'a shard has a new master',
    )
    if (move.fromNodeId === null) return
    this.#takeoverListeners.tell({ ...move, nodeGroupId, number })
  }

  /**
   * Logs and announces a change of a shard's owner or state, and schedules reviews of the transitional states after it.
   */
  #review(groupId: string, number: number, record: ShardRecord): void {
    if (record.isEmpty) {
      this.#groups.get(groupId)?.delete(number)
      for (const timer of this.#timers.get(record) ?? []) timer.clear()
      this.#timers.delete(record)
      this.#states.delete(record)
      this.#seenOwner.delete(record)
      this.#tell(groupId, number)
      return
    }
    const { state, ownerNodeId, masterNodeIds } = record.status(groupId, number, this.#nowMs())
    const before = this.#states.get(record)
    const ownerBefore = this.#seenOwner.get(record)
    if (state === before && ownerNodeId === ownerBefore) return
    this.#states.set(record, state)
    this.#seenOwner.set(record, ownerNodeId)
    const where = { group: this.#options.view.get('nodeGroup', groupId)?.value.name ?? groupId, shard: number }
    if (state !== before) {
      if (state === 'two-owners')
        this.#log.error({ event: 'shard-two-owners', ...where, nodeIds: masterNodeIds }, 'two nodes own a shard')
      else if (state === 'no-owner') this.#log.error({ event: 'shard-no-owner', ...where }, 'nobody owns a shard')
      else if (state === 'settled' && (before === 'two-owners' || before === 'no-owner'))
        this.#log.info({ event: 'shard-settled', ...where, nodeIds: masterNodeIds }, 'one node owns the shard again')
    }
    if (ownerNodeId !== ownerBefore) this.#lookAgain(groupId, number, record)
    this.#tell(groupId, number)
  }

  #lookAgain(groupId: string, number: number, record: ShardRecord): void {
    for (const timer of this.#timers.get(record) ?? []) timer.clear()
    const again = () => {
      if (this.#record(groupId, number) !== record) return
      this.#review(groupId, number, record)
      this.#tell(groupId, number)
    }
    this.#timers.set(
      record,
      LOOK_AGAIN_MS.map((delayMs) => this.#options.clock.setTimer(again, delayMs)),
    )
  }

  #tell(groupId: string, number: number): void {
    for (const listener of this.#listeners) listener(groupId, number)
  }
}
