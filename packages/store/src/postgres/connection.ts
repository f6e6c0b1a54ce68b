import { Backoff } from '@spout/runtime'
import { reasonOf } from './postgres-error.ts'
import { Session } from './session.ts'
import { type PostgresSettings, textOf } from './settings.ts'

export interface ConnectionOptions {
  readonly settings: PostgresSettings
  /** Shown in `pg_stat_activity`. */
  readonly name: string
  /**
   * Prepares a new session, before anybody uses it.
   * @throws Error with the reason why this server cannot be used
   */
  readonly greet: (session: Session) => Promise<void>
}

const BACKOFF = { firstMs: 50, mostMs: 1000 }

/** A session with the database, and a new one when it ends. What was asked of the old one fails. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #backoff = new Backoff(BACKOFF)
  #session: Session | null = null
  #trouble = 'it is not connected yet'
  #waiting: PromiseWithResolvers<Session>[] = []
  #timer: NodeJS.Timeout | null = null
  #connecting: Promise<void> = Promise.resolve()
  #isClosed = false

  private constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** @throws Error with each server's reason when none can be used */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(options)
    await connection.#connect()
    return connection
  }

  /** Why there is no session; null when there is one. */
  get trouble(): string | null {
    return this.#session?.isOpen ? null : this.#trouble
  }

  /** @throws Error when there is none */
  get session(): Session {
    if (this.#session?.isOpen) return this.#session
    throw new Error(this.#trouble)
  }

  /** The next session, or the present one. @throws Error when it is closed first */
  connected(): Promise<Session> {
    if (this.#session?.isOpen) return Promise.resolve(this.#session)
    if (this.#isClosed) return Promise.reject(new Error(this.#trouble))
    const waiting = Promise.withResolvers<Session>()
    this.#waiting.push(waiting)
    return waiting.promise
  }

  /** A session that ends is not replaced any more. */
  keepNoLonger(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#settle((waiting) => waiting.reject(new Error(this.#trouble)))
  }

  async close(): Promise<void> {
    this.keepNoLonger()
    await this.#connecting
    await this.#session?.end()
  }

  async #connect(): Promise<void> {
    const session = await this.#connected()
    if (this.#isClosed) return session.end()
    this.#session = session
    this.#backoff.reset()
    void session.ended.then((reason) => this.#lost(session, reason))
    this.#settle((waiting) => waiting.resolve(session))
  }

  async #connected(): Promise<Session> {
    const { settings, name, greet } = this.#options
    const reasons: string[] = []
    for (const address of settings.servers) {
      let session: Session | null = null
      try {
        session = await Session.connect(settings, address, name)
        await greet(session)
        return session
      } catch (error) {
        reasons.push(session === null ? reasonOf(error) : `${textOf(address)}: ${reasonOf(error)}`)
        session?.destroy('it cannot be used')
      }
    }
    throw new Error(reasons.join('; '))
  }

  #lost(session: Session, reason: string): void {
    if (this.#session !== session) return
    this.#session = null
    this.#trouble = `the connection to ${textOf(session.address)} was lost: ${reason}`
    this.#again()
  }

  #again(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#connecting = this.#connect().catch((error: unknown) => {
        this.#trouble = reasonOf(error)
        this.#again()
      })
    }, this.#backoff.next())
  }

  #settle(settle: (waiting: PromiseWithResolvers<Session>) => void): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const each of waiting) settle(each)
  }
}
