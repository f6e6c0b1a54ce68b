import { SpoutError } from '@spout/model'
import type { PendingCommit } from '../batch-plan.ts'
import type { Retention } from '../change-log.ts'
import { GroupCommit, type Settled } from '../group-commit.ts'
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
import { BatchWriter } from './batch-writer.ts'
import { Connection } from './connection.ts'
import { DatabaseReader, endsOf, type LogEnds, type ObjectRow } from './database-reader.ts'
import { FollowedLog } from './followed-log.ts'
import { reasonOf } from './postgres-error.ts'
import { PostgresLeases } from './postgres-leases.ts'
import { checkServer, prepareSchema } from './schema.ts'
import type { Session } from './session.ts'
import type { PostgresSettings } from './settings.ts'
import { SQL } from './statements.ts'

export interface PostgresStoreOptions {
  readonly database: PostgresSettings
  /** How much log is kept for watches. Default: 50,000 changes and 256 MiB of values. */
  readonly retention?: Retention
  /** How often a quiet watch gets a bookmark. Default: 10 s. */
  readonly bookmarkIntervalMs?: number
  /** How often a server that refused a write is tried again. Default: 500 ms. */
  readonly probeIntervalMs?: number
  /** The time of leases in place of the server's, for tests. */
  readonly leaseTimeMs?: () => number
}

const COMMITS_PER_BATCH = 256
/** A notification may be lost with its connection. This bounds how long a change of another process stays unseen. */
const LOOK_EVERY_MS = 5000

/** The connections of a store, each for what must not wait for the others. */
interface Connections {
  readonly writing: Connection
  readonly reading: Connection
  readonly leases: Connection
}

/**
 * A store in a PostgreSQL database, which several processes may use. Every acknowledged commit is on the server's disk.
 * Each process follows the log, so it sees what the others commit.
 */
export class PostgresStore implements Store {
  readonly leases: PostgresLeases
  readonly #connections: Connections
  readonly #storeId: string
  readonly #reader: DatabaseReader
  readonly #writer: BatchWriter
  readonly #log: FollowedLog
  readonly #known = new KnownValues()
  readonly #watches: Watches
  readonly #commits: GroupCommit<PendingCommit, number>
  readonly #looking: NodeJS.Timeout
  readonly #newest = new SharedQuestion(() => this.#reader.ends())
  /** Of the session that writes. What it announces is known here anyway. */
  readonly #writingProcess: () => number
  #closing: Promise<void> | null = null

  /**
   * Connects, and makes the schema if there is none.
   * @throws SpoutError StoreUnavailable: the database cannot be reached or used; then nothing in it was changed
   */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const opened: Connection[] = []
    let store: PostgresStore | null = null
    let writingProcess = 0
    const connect = async (role: string, greet: (session: Session) => Promise<void>): Promise<Connection> => {
      const greeting = async (session: Session): Promise<void> => {
        const known = store === null ? null : store.#ends()
        await checkServer(session)
        await greet(session)
        if (known !== null) checkSame(known, await endsOf(session))
      }
      const connection = await Connection.open({
        ...{ settings: options.database, name: `spout ${role}`, greet: greeting },
      })
      opened.push(connection)
      return connection
    }
    try {
      const writing = await connect('writing', async (session) => {
        await prepareSchema(session)
        writingProcess = await processOf(session)
      })
      const reading = await connect('reading', async (session) => {
        await session.query('LISTEN spout')
        if (store !== null) store.#follow(session)
      })
      const leases = await connect('leases', async () => {})
      await writing.session.query(SQL.forgetWriters)
      const ends = await endsOf(reading.session)
      store = new PostgresStore(options, { writing, reading, leases }, { ends, writingProcess: () => writingProcess })
      store.#follow(reading.session)
      return store
    } catch (error) {
      await Promise.all(opened.map((connection) => connection.close()))
      throw refused(`the database ${options.database.database} cannot be used: ${reasonOf(error)}`, error)
    }
  }

  private constructor(
    options: PostgresStoreOptions,
    connections: Connections,
    { ends, writingProcess }: { readonly ends: LogEnds; readonly writingProcess: () => number },
  ) {
    this.#connections = connections
    this.#writingProcess = writingProcess
    this.#storeId = ends.storeId
    this.#reader = new DatabaseReader(connections.reading)
    this.#writer = new BatchWriter({
      connection: connections.writing,
      retention: options.retention ?? { changes: 50_000, bytes: 256 * 1024 * 1024 },
      probeIntervalMs: options.probeIntervalMs ?? 500,
      // They were taken before anybody knew that the server is away. Nothing of them was begun.
      onWait: (reason) => this.#commits.refuse(refused(reason)),
    })
    this.#log = new FollowedLog(this.#reader, ends, () => this.#watches.notify())
    this.#watches = new Watches(this.#storeId, this.#log, options.bookmarkIntervalMs ?? 10_000, this.#known)
    this.#commits = new GroupCommit((batch) => this.#flush(batch), { maxBatch: COMMITS_PER_BATCH })
    this.leases = new PostgresLeases(connections.leases, ends.storeId, options.leaseTimeMs ?? null)
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS).unref()
  }

  /** Also not writable while a connection is away that only reads or leases: who commits needs all three. */
  health(): StoreHealth {
    const { reading, leases } = this.#connections
    const reason =
      this.#closing === null ? (this.#writer.trouble ?? reading.trouble ?? leases.trouble) : 'the store is closed'
    return { writable: reason === null, reason }
  }

  async get(kind: string, id: string): Promise<Stored | null> {
    this.#assertOpen()
    const row = await this.#reader.get(kind, id)
    return row === null ? null : this.#stored(kind, row)
  }

  async list(kind: string, { scope }: { readonly scope?: string | null } = {}): Promise<ListResult> {
    this.#assertOpen()
    const { objects, head } = await this.#reader.list(kind, scope)
    return { items: objects.map((row) => this.#stored(kind, row)), revision: this.#revision(head) }
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
    if (turn !== undefined) this.#assertOpen()
    if (planned.length === 0) return { revision: await this.revision() }
    const { trouble } = this.#connections.writing
    if (trouble !== null) throw refused(trouble)
    const sequence = await this.#commits.submit({ writes: planned, lease }, { yields })
    return { revision: this.#revision(sequence) }
  }

  /** A revision of another process that is not known here yet is waited for. */
  async *watch(options: WatchOptions): AsyncGenerator<Change, void> {
    const from = parseRevision(this.#storeId, options.from)
    if (from !== null && from > this.#log.head && !options.signal.aborted) await this.#log.catchUp()
    yield* this.#watches.watch(options)
  }

  async revision(atLeast?: Revision): Promise<Revision> {
    this.#assertOpen()
    const least = atLeast === undefined ? null : parseRevision(this.#storeId, atLeast)
    if (least !== null && least <= this.#log.head) return this.#revision(this.#log.head)
    // While the server is away, what is known here is the newest that anybody can say.
    const known = await this.#newest.ask().catch(() => null)
    // The notification of it may be lost.
    if (known !== null && known.head > this.#log.head) this.#look()
    return this.#revision(known?.head ?? this.#log.head)
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    const sequence = parseRevision(this.#storeId, revision)
    if (sequence !== null && sequence > this.#log.head) await this.#log.catchUp()
    if (sequence === null || sequence > this.#log.head) throw new SpoutError('Gone', { revision })
    if (sequence > this.#log.floor) this.#log.raiseFloor(await this.#writer.compact(sequence))
  }

  async format(): Promise<StoreFormat> {
    this.#assertOpen()
    return this.#reader.format()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { writing, reading, leases } = this.#connections
    this.#watches.close()
    clearInterval(this.#looking)
    writing.keepNoLonger()
    await this.#commits.drain()
    this.#writer.close()
    await Promise.all([writing.close(), reading.close(), leases.close()])
  }

  async #flush(batch: readonly PendingCommit[]): Promise<readonly Settled<number>[]> {
    const { from, outcomes, floor } = await this.#writer.apply(batch)
    const stored = outcomes.flatMap((outcome) => ('commit' in outcome ? [outcome.commit] : []))
    if (stored.length > 0) {
      // What is stored is acknowledged, also when it cannot be read back now: the log is caught up with later.
      await this.#log.add(from, stored).catch(() => {})
      this.#log.raiseFloor(floor)
    }
    return outcomes.map((outcome) => ('commit' in outcome ? { value: outcome.commit.sequence } : outcome))
  }

  /** Follows the log by a new connection: whatever happened while there was none is read. */
  #follow(session: Session): void {
    session.onNotification((processId) => {
      if (processId !== this.#writingProcess()) this.#look()
    })
    this.#connections.reading.connected().then(
      () => this.#look(),
      () => {},
    )
  }

  /** What must be in the database, whichever server has it. */
  #ends(): LogEnds {
    return { storeId: this.#storeId, head: this.#log.head, floor: this.#log.floor }
  }

  #look(): void {
    this.#log.catchUp().catch(() => {})
  }

  #stored(kind: string, { id, scope, revision, value }: ObjectRow): Stored {
    return { kind, id, revision: this.#revision(revision), scope, value }
  }

  #revision(sequence: number): Revision {
    return formatRevision(this.#storeId, sequence)
  }

  #assertOpen(): void {
    if (this.#closing !== null) throw new SpoutError('Unavailable', { what: 'the store', reason: 'it is closed' })
  }
}

const processOf = async (session: Session): Promise<number> =>
  (await session.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0

/**
 * After a failover or a restore the server may have less than what was acknowledged, or another store.
 * @param known read before `found`
 * @throws Error when what this process knows is not in it
 */
function checkSame(known: LogEnds, found: LogEnds): void {
  if (found.storeId !== known.storeId)
    throw new Error(`it holds store ${found.storeId}, and this process works on ${known.storeId}: start it anew`)
  if (found.head < known.head)
    throw new Error(
      `it lacks changes that were acknowledged: it ends at ${found.head}, and ${known.head} was seen. A server without them took over, or an older copy was restored`,
    )
}
