import { existsSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ControlPlanePlace } from '../place.ts'

/** The store's own file; null with another engine, or before the first start. */
export type StoredReading = {
  readonly file: string
  /** A control plane has it locked, and says itself how it is. */
  readonly used: boolean
  /** What SQLite finds wrong with it. */
  readonly damages: readonly string[]
} | null

const MOST_DAMAGES = 5
/** https://sqlite.org/rescode.html */
const SQLITE_BUSY = 5

/** Checks the file while no control plane uses it, which would have it locked. */
export async function readStored({ config }: ControlPlanePlace): Promise<StoredReading> {
  const file = path.join(config.stateDirectory, 'spout.db')
  if (config.store.engine !== 'sqlite' || !existsSync(file)) return null
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = database.prepare(`PRAGMA quick_check(${MOST_DAMAGES})`).all() as { readonly quick_check: string }[]
    return { file, used: false, damages: rows.map(({ quick_check: words }) => words).filter((words) => words !== 'ok') }
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return { file, used: true, damages: [] }
    return { file, used: false, damages: [(error as Error).message] }
  } finally {
    database.close()
  }
}
