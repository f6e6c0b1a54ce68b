import { type Log, readFileOrNull, writeFileAtomically } from '@spout/sys'
import { EMPTY_TABLE, type MoverRows, type MoverTable, parseTable, printTable } from './mover-table.ts'

/** The last table that was given to the mover. It is on disk for the next agent. */
export class WantedTable {
  readonly #path: string
  readonly #log: Log
  #table: MoverTable = EMPTY_TABLE
  #writes = 0

  constructor(path: string, log: Log) {
    this.#path = path
    this.#log = log
  }

  get table(): MoverTable {
    return this.#table
  }

  get writes(): number {
    return this.#writes
  }

  /** Reads the table of an earlier agent. @param atLeast the newest generation that is known */
  async load(atLeast: number): Promise<void> {
    const text = await readFileOrNull(this.#path)
    const found = text === null ? null : parseTable(text.toString('utf8'))
    if (text !== null && found === null) this.#log.warn({ path: this.#path }, 'the table of addresses cannot be read')
    const table = found ?? EMPTY_TABLE
    this.#table = { ...table, generation: Math.max(table.generation, atLeast) }
  }

  /** Replaces the file if something differs. @returns the generation that contains the change */
  async write(change: Partial<Omit<MoverTable, 'generation'>>, again = false): Promise<number> {
    const next: MoverTable = { ...this.#table, ...change, generation: this.#table.generation + 1 }
    if (!again && isSame(this.#table, next)) return this.#table.generation
    await writeFileAtomically(this.#path, printTable(next))
    this.#writes++
    this.#table = next
    return next.generation
  }
}

function isSame(one: MoverTable, other: MoverTable): boolean {
  return (
    one.freezeMs === other.freezeMs &&
    one.routers.size === other.routers.size &&
    [...one.routers].every(([shard, routerId]) => other.routers.get(shard) === routerId) &&
    sameRows(one.rows, other.rows)
  )
}

const sameRows = (one: MoverRows, other: MoverRows): boolean =>
  one === other || (one.size === other.size && other.keys().every((key) => one.has(key)))
