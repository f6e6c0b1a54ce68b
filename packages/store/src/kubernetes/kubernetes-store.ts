import { randomUUID } from 'node:crypto'
import type { Transport } from '@spout/kube'
import { SpoutError } from '@spout/model'
import { type Clock, pause, systemClock } from '@spout/runtime'
import type { Retention } from '../change-log.ts'
import { GroupCommit, type Settled } from '../group-commit.ts'
import type { ObjectRow } from '../object-rows.ts'
import { planWrite, planWrites } from '../planned-write.ts'
import { refused } from '../refused.ts'
import { formatRevision, parseRevision } from '../revision.ts'
import { SharedQuestion } from '../shared-question.ts'
import type {
  Change,
  CommitOptions,
  ListResult,
  Revision,
  Store,
  Stored,
  StoreFormat,
  StoreHealth,
  WatchOptions,
  Write,
} from '../store.ts'
import { KnownValues } from '../values/known-values.ts'
import { Watches } from '../watches.ts'
import { contentOf, entryOf } from './entry.ts'
import { HANDED_TO_ANOTHER, planEntry } from './entry-plan.ts'
import { Follower } from './follower.ts'
import { KubernetesLeases } from './kubernetes-leases.ts'
import { load } from './loading.ts'
import { LogState, NotFollowing } from './log-state.ts'
import { PartMissing } from './parts.ts'
import { LABELS, type StoreRecord } from './record.ts'
import { Records } from './records.ts'
import { openRoot, type ReadRoot, readRoot } from './root.ts'
import { type Pending, type Run, runsOf } from './runs.ts'
import { Slots } from './slots.ts'
import { Snapshots } from './snapshots.ts'

export interface KubernetesStoreOptions {
  /** To the API server. The store closes it. */
  readonly transport: Transport
  readonly namespace: string
  /** Of the store: records' names begin with it. */
  readonly name: string
  /** How much log is kept for watches. Default: 50,000 changes and 64 MiB of values. */
  readonly retention?: Retention
  /** How often a quiet watch gets a bookmark. Default: 10 s. */
  readonly bookmarkIntervalMs?: number
  /** How many places the log of a new store has. Default: 2,048. */
  readonly slots?: number
  /** For the time of leases. */
  readonly clock?: Clock
}

const COMMITS_PER_BATCH = 256
const DEFAULT_SLOTS = 2048
/** Between attempts to write what was not answered. */
const RETRY_MS = 100

/** The parts of an open store. */
interface Opened {
  readonly records: Records
  readonly slots: Slots
  readonly state: LogState
  readonly root: ReadRoot
}

/**
 * A store in the API of a Kubernetes cluster, which several processes may use: a log of entries in custom resources, and
 * snapshots. Every acknowledged commit is in etcd. Each process has everything in memory and follows the log, so it sees
 * what the others commit, and reads while the API server is away.
 */
export class KubernetesStore implements Store {
  readonly leases: KubernetesLeases
  readonly #transport: Transport
  readonly #storeId: string
  readonly #records: Records
  readonly #slots: Slots
  readonly #state: LogState
  readonly #snapshots: Snapshots
  readonly #follower: Follower
  readonly #known = new KnownValues()
  readonly #watches: Watches
  readonly #commits: GroupCommit<Pending, number>
  readonly #catchingUp = new SharedQuestion(() => this.#catchUp())
  /** Entries that the watch has reported, by number, until those before them are known. */
  readonly #heard = new Map<number, StoreRecord>()
  #takingHeard: Promise<void> = Promise.resolve()
  /** Why this process can never write again; null when it can. */
  #broken: string | null = null
  readonly #ending = new AbortController()
  #closing: Promise<void> | null = null

  /**
   * Reads what is stored, or makes a new store.
   * @throws SpoutError StoreUnavailable: the records cannot be read or made
   */
  static async open(options: KubernetesStoreOptions): Promise<KubernetesStore> {
    const { transport, namespace, name } = options
    const records = new Records({ transport, namespace, name, writer: randomUUID() })
    let store: KubernetesStore | null = null
    try {
      const { slots: count, storeId } = await openRoot(records, options.slots ?? DEFAULT_SLOTS)
      const slots = new Slots(records, count)
      const state = new LogState(options.retention ?? { changes: 50_000, bytes: 64 * 1024 * 1024 }, storeId)
      const root = await load(records, slots, state)
      store = new KubernetesStore(options, { records, slots, state, root })
      for (const sign of await records.list('lease')) await store.leases.note(sign)
      await store.#follower.start()
      return store
    } catch (error) {
      await (store?.close() ?? transport.close())
      throw refused(`the store ${name} in namespace ${namespace} cannot be used: ${(error as Error).message}`, error)
    }
  }

  private constructor(options: KubernetesStoreOptions, { records, slots, state, root }: Opened) {
    this.#transport = options.transport
    this.#storeId = root.storeId
    this.#records = records
    this.#slots = slots
    this.#state = state
    this.#snapshots = new Snapshots({ records, state, root })
    this.#watches = new Watches(root.storeId, state, options.bookmarkIntervalMs ?? 10_000, this.#known)
    this.#commits = new GroupCommit((batch) => this.#flush(batch), { maxBatch: COMMITS_PER_BATCH })
    this.#follower = new Follower({
      records,
      onRecord: (record) => this.#hear(record),
      onOpen: () => this.#compared(),
    })
    this.leases = new KubernetesLeases({
      storeId: root.storeId,
      records,
      clock: options.clock ?? systemClock,
      onFailure: (reason) => this.#follower.restart(reason),
      log: {
        lease: (name) => state.lease(name),
        hand: async (from, to) => (await this.#submit({ from, to })) !== HANDED_TO_ANOTHER,
        catchUp: () => this.#catchingUp.ask(),
      },
    })
  }

  health(): StoreHealth {
    const reason = this.#closing === null ? this.#trouble : 'the store is closed'
    return { writable: reason === null, reason }
  }

  async format(): Promise<StoreFormat> {
    this.#assertOpen()
    try {
      const root = await readRoot(this.#records)
      if (root !== null) return { engine: 'kubernetes', ...root.format }
    } catch (error) {
      throw new SpoutError('Unavailable', { what: 'the store', reason: (error as Error).message }, { cause: error })
    }
    throw new SpoutError('Unavailable', { what: 'the store', reason: 'its root is gone' })
  }

  async get(kind: string, id: string): Promise<Stored | null> {
    this.#assertOpen()
    const row = this.#state.rows.find({ kind, id })
    return row === null ? null : this.#stored(row)
  }

  async list(kind: string, { scope }: { readonly scope?: string | null } = {}): Promise<ListResult> {
    this.#assertOpen()
    const rows = this.#state.rows.of(kind, scope)
    return { items: rows.map((row) => this.#stored(row)), revision: this.#revision(this.#state.head) }
  }

  async commit(
    writes: readonly Write[],
    { turn, yields = false, lease }: CommitOptions = {},
  ): Promise<{ readonly revision: Revision }> {
    this.#assertOpen()
    const encoding = { known: this.#known, isLarge: () => false }
    const planned =
      turn === undefined
        ? writes.map((write) => planWrite(this.#storeId, write, encoding))
        : await planWrites(this.#storeId, writes, encoding, turn)
    if (planned.length === 0) return { revision: await this.revision() }
    return { revision: this.#revision(await this.#submit({ writes: planned, lease }, yields)) }
  }

  /** A revision of another process that is not known here yet is waited for. */
  async *watch(options: WatchOptions): AsyncGenerator<Change, void> {
    const from = parseRevision(this.#storeId, options.from)
    if (from !== null && from > this.#state.head && !options.signal.aborted) await this.#catchUpIfReachable()
    yield* this.#watches.watch(options)
  }

  async revision(atLeast?: Revision): Promise<Revision> {
    this.#assertOpen()
    const least = atLeast === undefined ? null : parseRevision(this.#storeId, atLeast)
    if (least === null || least > this.#state.head) await this.#catchUpIfReachable()
    return this.#revision(this.#state.head)
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    const sequence = parseRevision(this.#storeId, revision)
    if (sequence !== null && sequence > this.#state.head) await this.#catchUpIfReachable()
    if (sequence === null || sequence > this.#state.head) throw new SpoutError('Gone', { revision })
    if (sequence > this.#state.floor) await this.#submit({ floor: sequence })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#watches.close()
    this.#ending.abort()
    await this.#commits.drain()
    await this.#snapshots.idle()
    await this.#follower.close()
    this.#transport.close()
  }

  get #trouble(): string | null {
    return this.#broken ?? this.#follower.trouble
  }

  async #submit(pending: Pending, yields = false): Promise<number> {
    this.#assertOpen()
    const trouble = this.#trouble
    if (trouble !== null) throw refused(trouble)
    return this.#commits.submit(pending, { yields })
  }

  async #flush(batch: readonly Pending[]): Promise<readonly Settled<number>[]> {
    const results: Settled<number>[] = []
    for (const run of runsOf(batch)) {
      const items = Array.isArray(run) ? run : [run]
      results.push(
        ...(await this.#store(run).catch((error: unknown) => {
          const told = this.#told(error)
          return items.map(() => ({ error: told }))
        })),
      )
    }
    return results
  }

  /** Makes a run the next entry of the log. If another process has that place, it is tried with what is stored now. */
  async #store(run: Run): Promise<readonly Settled<number>[]> {
    for (let isNewest = false; ; isNewest = true) {
      const lack = this.#broken ?? (await this.#snapshots.room())
      if (lack !== null) throw refused(lack)
      const { results, entry, commits } = planEntry(run, this.#state)
      // A commit is not refused for what another process has changed meanwhile.
      if (!isNewest && results.some((result) => 'error' in result)) {
        await this.#catchingUp.ask()
        continue
      }
      if (entry === null) return results
      const place = { number: this.#state.place.number + 1, id: randomUUID() }
      const content = await contentOf(this.#records, entry, place)
      if (await this.#slots.append(content, { again: (error, mayBeStored) => this.#again(error, mayBeStored) })) {
        if (this.#state.take({ ...place, entry }, commits)) this.#watches.notify()
        this.#snapshots.wrote(content.data.length)
        return results
      }
      await this.#catchingUp.ask().catch((error: unknown) => this.#again(error as Error, false))
    }
  }

  /** The error of commits that are not stored. */
  #told(error: unknown): SpoutError {
    if (error instanceof SpoutError) return error
    const { message } = error as Error
    this.#follower.restart(message)
    return refused(message, error)
  }

  /**
   * After a request that was not answered: waits for the server, however long it is away.
   * @param mayBeStored false: what is to be stored was not sent yet, or refused
   */
  async #again({ message }: Error, mayBeStored: boolean): Promise<void> {
    this.#follower.restart(message)
    await pause(systemClock, RETRY_MS, this.#ending.signal)
    if (!this.#ending.signal.aborted) await Promise.race([this.#follower.connected(), this.#ended()])
    const reason = this.#broken ?? (this.#ending.signal.aborted ? message : null)
    if (reason === null) return
    throw mayBeStored ? new SpoutError('StoredUnknown', { reason }) : refused(reason)
  }

  #ended(): Promise<void> {
    return new Promise((resolve) => this.#ending.signal.addEventListener('abort', () => resolve(), { once: true }))
  }

  /** Takes in what the watch reports. */
  #hear(record: StoreRecord): void {
    const role = record.metadata.labels?.[LABELS.role]
    if (role === 'root') this.#snapshots.note(record.spec.number)
    else if (role === 'lease') this.leases.note(record).catch(() => {})
    else if (role === 'slot' && record.spec.number > this.#state.place.number) {
      this.#slots.note(record)
      this.#heard.set(record.spec.number, record)
      this.#takingHeard = this.#takingHeard.then(() => this.#takeHeard())
    }
  }

  async #takeHeard(): Promise<void> {
    try {
      for (const number of this.#heard.keys()) if (number <= this.#state.place.number) this.#heard.delete(number)
      for (;;) {
        const next = this.#heard.get(this.#state.place.number + 1)
        if (next === undefined) break
        this.#heard.delete(next.spec.number)
        await this.#take(next)
      }
      // An entry of this process's own lies before it, or one that was written before the watch.
      if (this.#heard.size > 0) await this.#catchingUp.ask()
    } catch (error) {
      this.#follower.restart((error as Error).message)
    }
  }

  async #catchUpIfReachable(): Promise<void> {
    // While the server is away, what is known here is the newest that anybody can say.
    if (this.#trouble === null) await this.#catchingUp.ask().catch(() => {})
  }

  /** Reads what others have written. @throws KubeError, KubeUnreachable */
  async #catchUp(): Promise<void> {
    while (this.#broken === null) {
      const number = this.#state.place.number + 1
      const record = await this.#slots.read(number)
      if (record === null || record.spec.number < number) return
      if (record.spec.number === number) await this.#take(record)
      // The log is a round ahead: what is between is in a snapshot.
      else await this.#reload()
    }
  }

  async #take({ spec }: StoreRecord): Promise<void> {
    const { number, id } = spec
    try {
      const entry = (await entryOf(this.#records, spec))!
      if (this.#state.take({ number, id, entry })) this.#watches.notify()
    } catch (error) {
      if (error instanceof PartMissing) await this.#reload()
      else if (error instanceof NotFollowing) this.#break(error.message)
      else throw error
    }
  }

  /** Watches that have not seen what is now only in the snapshot get `Gone`. */
  async #reload(): Promise<void> {
    const { number } = await load(this.#records, this.#slots, this.#state)
    this.#snapshots.note(number)
    this.#watches.notify()
  }

  /**
   * Compares what is stored with what this process knows, and reads the rest. After etcd was restored from a back-up, what
   * was acknowledged may be missing.
   */
  async #compared(): Promise<void> {
    const root = await readRoot(this.#records)
    if (root?.storeId !== this.#storeId)
      this.#break(`it holds store ${root?.storeId ?? 'none'}, and this process works on ${this.#storeId}`)
    const { number, id } = this.#state.place
    if (number > 0 && this.#broken === null) {
      const there = await this.#slots.read(number)
      const stored = there?.spec.number ?? 0
      if (stored < number || (stored === number && there?.spec.id !== id))
        this.#break(`it lacks changes that were acknowledged: entry ${number} is not there`)
    }
    if (this.#broken === null) await this.#catchingUp.ask()
  }

  #break(reason: string): void {
    this.#broken ??= `${reason}. An older copy of the cluster's objects was restored: start all control planes anew`
  }

  #stored({ kind, id, scope, sequence, text }: ObjectRow): Stored {
    return { kind, id, revision: this.#revision(sequence), scope, value: JSON.parse(text) }
  }

  #revision(sequence: number): Revision {
    return formatRevision(this.#storeId, sequence)
  }

  #assertOpen(): void {
    if (this.#closing !== null) throw new SpoutError('Unavailable', { what: 'the store', reason: 'it is closed' })
  }
}
