import { randomUUID } from 'node:crypto'
import { SpoutError } from '@spout/model'
import {
  type BatchPlan,
  type LogEnd,
  type Outcome,
  type PendingCommit,
  type Present,
  planBatch,
  refsToKnow,
} from '../batch-plan.ts'
import type { Retention } from '../change-log.ts'
import type { Lease } from '../leases/leases.ts'
import { refused } from '../refused.ts'
import type { Connection } from './connection.ts'
import { isOutOfResources, isReadOnly, isRefusal, reasonOf } from './postgres-error.ts'
import type { Session } from './session.ts'
import { SQL } from './statements.ts'

/** A server that takes longer than this for a transaction is asked on a new connection what became of it. */
const ANSWER_TIMEOUT_MS = 10_000
/** From here on the store says that it does not accept writes. */
const HUNG_AFTER_MS = 5_000

export interface BatchWriterOptions {
  readonly connection: Connection
  readonly retention: Retention
  /** How often a server that refused a write is tried again. */
  readonly probeIntervalMs: number
  /** Called when it waits for a server that is away, before it knows what became of a batch. */
  readonly onWait: (reason: string) => void
}

export interface Applied {
  /** The end of the log that the batch was appended to. */
  readonly from: number
  /** Of each commit, in order. */
  readonly outcomes: readonly Outcome[]
  /** Changes up to this position are forgotten. */
  readonly floor: number
}

interface StoreRow extends Record<string, unknown> {
  readonly head: number
  readonly head_bytes: number
  readonly floor: number
  readonly floor_bytes: number
}
interface LeaseRow extends Record<string, unknown> {
  readonly name: string
  readonly holder: string | null
  readonly token: number
}

/**
 * The transactions that write. One is under way at a time in this process, and the row of `store` lets those of all
 * processes follow one another.
 *
 * When the answer to a COMMIT is lost, it waits for a new connection and looks up whether the batch is stored, so that a
 * commit is never reported wrongly, nor made twice.
 */
export class BatchWriter {
  readonly #options: BatchWriterOptions
  /** Of no other process, nor of an earlier start of this one. */
  readonly #id = randomUUID()
  #batch = 0
  /** Why the server refused the last write; null when it did not. */
  #refusal: string | null = null
  #probe: NodeJS.Timeout | null = null
  /** When the transaction that is under way began (`performance.now()`); null for none. */
  #sinceMs: number | null = null

  constructor(options: BatchWriterOptions) {
    this.#options = options
  }

  /** Why a commit would be refused now; null when it would not. */
  get trouble(): string | null {
    return this.#options.connection.trouble ?? this.#refusal ?? this.#hung()
  }

  /**
   * Applies a batch of commits in one durable transaction. Each succeeds or fails on its own.
   * @throws SpoutError StoreUnavailable: nothing of the batch is stored. StoredUnknown: it was closed before that was known
   */
  async apply(batch: readonly PendingCommit[]): Promise<Applied> {
    if (this.#refusal !== null) throw refused(this.#refusal)
    this.#sinceMs = performance.now()
    try {
      return await this.#apply(batch)
    } finally {
      this.#sinceMs = null
    }
  }

  /** Forgets changes up to the end of the commit at `position`. @returns up to where they are forgotten now */
  async compact(position: number): Promise<number> {
    const session = this.#session()
    try {
      const [, , cut] = await session.queries<StoreRow>(
        `BEGIN; ${SQL.lockStore}; ${SQL.cut(position)}; NOTIFY spout; COMMIT`,
      )
      return cut?.rows[0]?.floor ?? position
    } catch (error) {
      throw await this.#undone(session, error)
    }
  }

  close(): void {
    if (this.#probe !== null) clearTimeout(this.#probe)
  }

  async #apply(batch: readonly PendingCommit[]): Promise<Applied> {
    const session = this.#session()
    const number = ++this.#batch
    let planned: { readonly from: number; readonly plan: BatchPlan; readonly floor: number }
    try {
      planned = await this.#prepared(session, batch, number)
    } catch (error) {
      throw await this.#undone(session, error)
    }
    const { from, plan, floor } = planned
    if (plan.rows.length > 0) await this.#commit(session, number)
    else await session.query('ROLLBACK', ANSWER_TIMEOUT_MS).catch(() => session.destroy('it did not answer'))
    return { from, outcomes: plan.outcomes, floor }
  }

  /** Does everything but COMMIT. */
  async #prepared(session: Session, batch: readonly PendingCommit[], number: number) {
    const ask = <R extends Record<string, unknown>>(statement: Parameters<Session['query']>[0]) =>
      session.queries<R>(statement, ANSWER_TIMEOUT_MS)
    const leased = batch.some(({ lease }) => lease !== undefined)
    const [, stores, leases] = await ask<StoreRow & LeaseRow>(
      `BEGIN; ${SQL.lockStore}${leased ? `; ${SQL.lockLeases}` : ''}`,
    )
    const store = stores!.rows[0]!
    const refs = refsToKnow(batch)
    const known = refs.length === 0 ? [] : (await ask<Present & Record<string, unknown>>(SQL.present(refs)))[0]!.rows
    const end: LogEnd = { head: store.head, headBytes: store.head_bytes }
    const plan = planBatch(batch, { end, present: known }, lossesBy(leases?.rows ?? []))
    if (plan.rows.length === 0) return { from: end.head, plan, floor: store.floor }
    await ask(SQL.append(plan, { id: this.#id, batch: number }))
    const floor = await this.#trim(session, store, plan.end)
    return { from: end.head, plan, floor }
  }

  /** Keeps the log within its retention. It trims in strides, so that most transactions pay nothing for it. */
  async #trim(session: Session, { floor, floor_bytes: floorBytes }: StoreRow, end: LogEnd): Promise<number> {
    const { changes, bytes } = this.#options.retention
    const over = (value: number, limit: number) => value > limit + limit / 32
    const cut = over(end.head - floor, changes)
      ? SQL.cut(end.head - changes)
      : over(end.headBytes - floorBytes, bytes)
        ? SQL.cutBytes(floor, end.headBytes - bytes)
        : null
    if (cut === null) return floor
    return (await session.query<StoreRow>(cut)).rows[0]?.floor ?? floor
  }

  async #commit(session: Session, number: number): Promise<void> {
    try {
      const { command } = await session.query('COMMIT', ANSWER_TIMEOUT_MS)
      if (command === 'COMMIT') return
    } catch (error) {
      if (isRefusal(error)) throw await this.#undone(session, error)
      if (await this.#isStored(number)) return
      throw refused(`the connection was lost before the commit: ${reasonOf(error)}`, error)
    }
    throw refused('the server undid the transaction')
  }

  /** Whether a batch is stored whose answer was lost. Waits for the server, however long it is away. */
  async #isStored(number: number): Promise<boolean> {
    const { connection, onWait } = this.#options
    for (;;) {
      if (connection.trouble !== null) onWait(connection.trouble)
      const session = await connection.connected().catch((error: unknown) => {
        throw new SpoutError('StoredUnknown', { reason: reasonOf(error) }, { cause: error })
      })
      try {
        // The lock makes it wait for the end of the transaction that is asked for, should that still be under way.
        const [, , mine] = await session.queries<{ readonly batch: number }>(
          `BEGIN; ${SQL.lockStore}; ${SQL.writer(this.#id)}; COMMIT`,
          ANSWER_TIMEOUT_MS,
        )
        return mine?.rows[0]?.batch === number
      } catch (error) {
        session.destroy(reasonOf(error))
      }
    }
  }

  /** Ends a transaction that failed. @returns the error for its commits */
  async #undone(session: Session, error: unknown): Promise<SpoutError> {
    const reason = reasonOf(error)
    // A standby may have taken this server's place, or this one became a standby: look for the one that takes writes.
    if (isReadOnly(error) || !isRefusal(error)) session.destroy(reason)
    else await session.query('ROLLBACK', ANSWER_TIMEOUT_MS).catch(() => session.destroy(reason))
    if (isRefusal(error) && (isOutOfResources(error) || isReadOnly(error))) this.#refuse(reason)
    return refused(reason, error)
  }

  #session(): Session {
    try {
      return this.#options.connection.session
    } catch (error) {
      throw refused(reasonOf(error), error)
    }
  }

  /** Refuses commits until a harmless transaction succeeds. */
  #refuse(reason: string): void {
    this.#refusal = reason
    this.#probe ??= setTimeout(() => {
      this.#probe = null
      void this.#tryAgain(reason)
    }, this.#options.probeIntervalMs)
  }

  async #tryAgain(reason: string): Promise<void> {
    try {
      await this.#options.connection.session.query(SQL.touch, ANSWER_TIMEOUT_MS)
      this.#refusal = null
    } catch {
      this.#refuse(reason)
    }
  }

  #hung(): string | null {
    const tookMs = this.#sinceMs === null ? 0 : performance.now() - this.#sinceMs
    return tookMs < HUNG_AFTER_MS ? null : `the server has not stored a commit for ${Math.round(tookMs / 1000)} s`
  }
}

const lossesBy =
  (rows: readonly LeaseRow[]) =>
  ({ name, holder, token }: Lease): SpoutError | null => {
    const row = rows.find((each) => each.name === name)
    if (row?.holder === holder && row.token === token) return null
    const now = row?.holder ?? null
    return new SpoutError('LeaseLost', { lease: name, reason: now === null ? 'it was given up' : `${now} has it` })
  }
