import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type BenchRow, printRow } from '../row.ts'
import { drawing } from './drawing.ts'
import { options } from './settings.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Rows of the last run of each program; quick runs are kept apart and not shown in the documentation. */
const DIRECTORY = path.join(ROOT, 'build', options.quick ? 'failover-quick' : 'failover')
const PICTURE = options.quick ? path.join(DIRECTORY, 'failover.svg') : path.join(ROOT, 'docs', 'failover.svg')

/** Prints a row, keeps it, and draws the picture of all kept rows. */
export function finish(row: BenchRow): void {
  printRow(row, options)
  mkdirSync(DIRECTORY, { recursive: true })
  writeFileSync(path.join(DIRECTORY, `${row.name}.json`), `${JSON.stringify(row, null, 2)}\n`)
  const rows = globSync('*.json', { cwd: DIRECTORY })
    .sort()
    .map((file) => JSON.parse(readFileSync(path.join(DIRECTORY, file), 'utf8')) as BenchRow)
  if (row.distributions !== undefined) writeFileSync(PICTURE, drawing(rows))
}
