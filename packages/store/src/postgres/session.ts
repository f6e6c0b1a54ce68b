import { Socket } from 'node:net'
import pg from 'pg'
import { type PostgresAddress, type PostgresSettings, textOf } from './settings.ts'

const CONNECT_TIMEOUT_MS = 3000
/** OID of `bigint`. Positions and tokens stay below 2^53. */
const INT8 = 20

/**
 * - A transaction whose client stands still, or was cut off, ends after 3 s: it may hold the lock that all writers need.
 * - COMMIT answers when the log is on the disk, whatever the server's default is.
 */
const SET_UP = `
  SET idle_in_transaction_session_timeout = 3000;
  SET synchronous_commit = on;
  SET statement_timeout = 0;
  SET lock_timeout = 0;
  SET default_transaction_isolation = 'read committed';
  SET client_min_messages = warning;
  SET search_path = pg_catalog;
  SET tcp_keepalives_idle = 5;
  SET tcp_keepalives_interval = 2;
  SET tcp_keepalives_count = 3`

export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Prepared once in a session under this name. */
  readonly name?: string
}

type Row = Readonly<Record<string, unknown>>

/** One connection to one server, until it ends. */
export class Session {
  readonly address: PostgresAddress
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<string>
  readonly #client: pg.Client
  readonly #socket: Socket
  #endedBecause: string | null = null
  /** Resolves when the statements before are answered. */
  #answered: Promise<void> = Promise.resolve()

  private constructor(address: PostgresAddress, client: pg.Client, socket: Socket) {
    this.address = address
    this.#client = client
    this.#socket = socket
    this.ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#endedBecause ??= reason
        resolve(this.#endedBecause)
      }
      client.on('error', (error) => end(error.message))
      client.on('end', () => end('the server closed the connection'))
    })
  }

  /**
   * @param name shown in `pg_stat_activity`
   * @throws Error with the address and the reason
   */
  static async connect(settings: PostgresSettings, address: PostgresAddress, name: string): Promise<Session> {
    const { database, user, tls } = settings
    const password = (await settings.password())?.reveal()
    const socket = new Socket()
    const isLocal = address.host.startsWith('/')
    const client = new pg.Client({
      ...{ host: address.host, port: address.port, database, user, application_name: name },
      ...(password !== undefined && { password }),
      // Without `host` the certificate of a server that is named by its address would have to be for "localhost".
      ssl: tls === null || isLocal ? false : { host: address.host, ...(tls.ca !== undefined && { ca: tls.ca }) },
      stream: () => socket,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
    })
    const session = new Session(address, client, socket)
    try {
      await client.connect()
      await session.query(SET_UP)
      return session
    } catch (error) {
      session.destroy('it could not be set up')
      throw new Error(`${textOf(address)}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }

  get isOpen(): boolean {
    return this.#endedBecause === null
  }

  /**
   * @param statement one; or several without values, and the result is that of the first
   * @param timeoutMs the session is given up when there is no answer in this time
   */
  async query<R extends Row = Row>(
    statement: string | Statement,
    timeoutMs = 30_000,
  ): Promise<{ readonly rows: readonly R[]; readonly command: string }> {
    const [result] = await this.queries<R>(statement, timeoutMs)
    return result!
  }

  /** The result of each statement of a text. */
  async queries<R extends Row = Row>(
    statement: string | Statement,
    timeoutMs = 30_000,
  ): Promise<readonly { readonly rows: readonly R[]; readonly command: string }[]> {
    const before = this.#answered
    const turn = Promise.withResolvers<void>()
    this.#answered = turn.promise
    await before
    const timer = setTimeout(() => this.destroy(`no answer within ${timeoutMs / 1000} s`), timeoutMs)
    try {
      const asked = typeof statement === 'string' ? statement : { ...statement, values: [...(statement.values ?? [])] }
      const result = (await this.#client.query(asked)) as unknown
      return (Array.isArray(result) ? result : [result]) as { rows: R[]; command: string }[]
    } finally {
      clearTimeout(timer)
      turn.resolve()
    }
  }

  /** @param listener gets the server's process that serves the session which notified */
  onNotification(listener: (processId: number) => void): void {
    this.#client.on('notification', ({ processId }) => listener(processId))
  }

  /** Drops the connection at once. Whoever waits for an answer gets an error. */
  destroy(reason: string): void {
    this.#endedBecause ??= reason
    this.#socket.destroy()
  }

  async end(): Promise<void> {
    if (!this.isOpen) return
    await Promise.race([this.#client.end(), this.ended])
    this.#endedBecause ??= 'it was closed'
  }
}
