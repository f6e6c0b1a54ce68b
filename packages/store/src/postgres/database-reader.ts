import { SpoutError } from '@spout/model'
import type { LoggedCommit, LoggedWrite } from '../change-log.ts'
import type { StoreFormat } from '../store.ts'
import type { Connection } from './connection.ts'
import { reasonOf } from './postgres-error.ts'
import type { Session, Statement } from './session.ts'
import { SQL } from './statements.ts'

/** It is asked for all the time, so it also finds out that a server is silent. */
const ENDS_TIMEOUT_MS = 5000

export interface ObjectRow {
  readonly id: string
  readonly scope: string | null
  readonly revision: number
  readonly value: unknown
}

export interface LogEnds {
  readonly storeId: string
  readonly floor: number
  readonly head: number
}

/** `value` is JSON text. */
interface TextRow extends Record<string, unknown> {
  readonly id: string
  readonly scope: string | null
  readonly revision: number
  readonly value: string
}

interface LogRow extends Record<string, unknown> {
  readonly revision: number
  readonly kind: string
  readonly id: string
  readonly scope: string | null
  readonly value: string | null
}

const parsed = ({ id, scope, revision, value }: TextRow): ObjectRow => ({
  ...{ id, scope, revision },
  value: JSON.parse(value),
})

/** Reads what is stored. @throws SpoutError Unavailable while the server is away */
export class DatabaseReader {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async get(kind: string, id: string): Promise<ObjectRow | null> {
    const [row] = await this.#rows<TextRow>(SQL.get(kind, id))
    return row === undefined ? null : parsed(row)
  }

  /** @returns `head` is the position at which this is the exact list */
  async list(
    kind: string,
    scope: string | null | undefined,
  ): Promise<{ readonly objects: readonly ObjectRow[]; readonly head: number }> {
    const rows = await this.#rows<TextRow & { readonly head: number }>(SQL.list(kind, scope))
    const objects = rows.filter(({ id }) => id !== null).map(parsed)
    return { objects, head: rows[0]?.head ?? 0 }
  }

  async ends(): Promise<LogEnds> {
    return endsIn(await this.#rows<EndsRow>(SQL.ends, ENDS_TIMEOUT_MS))
  }

  async format(): Promise<StoreFormat> {
    const [row] = await this.#rows<{ readonly version: number; readonly usable_from: number }>(SQL.format)
    return { engine: 'postgres', version: row?.version ?? 0, usableFrom: row?.usable_from ?? 0 }
  }

  /**
   * The next commits after a position, whole and in order; none at the head.
   * @returns the floor was read after the commits: below it they are not all
   */
  async after(position: number): Promise<{ readonly commits: readonly LoggedCommit[]; readonly ends: LogEnds }> {
    const rows = await this.#rows<LogRow>(SQL.after(position))
    return { commits: commitsIn(rows), ends: await this.ends() }
  }

  async #rows<R extends Record<string, unknown>>(
    statement: string | Statement,
    timeoutMs?: number,
  ): Promise<readonly R[]> {
    try {
      return (await this.#connection.session.query<R>(statement, timeoutMs)).rows
    } catch (error) {
      throw new SpoutError('Unavailable', { what: 'the store', reason: reasonOf(error) }, { cause: error })
    }
  }
}

interface EndsRow extends Record<string, unknown> {
  readonly id: string
  readonly head: number
  readonly floor: number
}

const endsIn = (rows: readonly EndsRow[]): LogEnds => {
  const { id, head, floor } = rows[0]!
  return { storeId: id, head, floor }
}

/** @throws Error */
export const endsOf = async (session: Session): Promise<LogEnds> =>
  endsIn((await session.query<EndsRow>(SQL.ends)).rows)

function commitsIn(rows: readonly LogRow[]): readonly LoggedCommit[] {
  const commits: { readonly sequence: number; readonly writes: LoggedWrite[] }[] = []
  for (const { revision, kind, id, scope, value } of rows) {
    const last = commits.at(-1)
    const write = { kind, id, scope, text: value }
    if (last?.sequence === revision) last.writes.push(write)
    else commits.push({ sequence: revision, writes: [write] })
  }
  return commits
}
