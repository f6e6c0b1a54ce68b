import type { Lease, LeaseClaim, Leases } from '../leases/leases.ts'
import { refused } from '../refused.ts'
import type { Connection } from './connection.ts'
import { reasonOf } from './postgres-error.ts'
import type { Statement } from './session.ts'
import { SQL } from './statements.ts'

interface LeaseRow extends Record<string, unknown> {
  readonly holder: string | null
  readonly token: number
}

const ANSWER_TIMEOUT_MS = 5000

/** Leases in rows of the database, by the server's clock. A commit under a lease locks its row, so a claim waits for it. */
export class PostgresLeases implements Leases {
  readonly keptIn: string
  readonly #connection: Connection
  readonly #nowMs: (() => number) | null

  /** @param keptIn the store's id @param nowMs in place of the server's clock */
  constructor(connection: Connection, keptIn: string, nowMs: (() => number) | null) {
    this.keptIn = keptIn
    this.#connection = connection
    this.#nowMs = nowMs
  }

  async claim({ name, holder, ttlMs }: LeaseClaim): Promise<Lease> {
    for (;;) {
      const taken = await this.#ask(SQL.claim(name, holder, ttlMs, this.#nowMs?.() ?? null))
      if (taken !== undefined) return { name, holder, token: taken.token }
      const row = await this.#ask(SQL.lease(name))
      // It was given up in between: ask again.
      if (row?.holder) return { name, holder: row.holder, token: row.token }
    }
  }

  async release({ name, holder, token }: Lease): Promise<void> {
    await this.#ask(SQL.release(name, holder, token))
  }

  async #ask(statement: Statement): Promise<LeaseRow | undefined> {
    try {
      return (await this.#connection.session.query<LeaseRow>(statement, ANSWER_TIMEOUT_MS)).rows[0]
    } catch (error) {
      throw refused(reasonOf(error), error)
    }
  }
}
