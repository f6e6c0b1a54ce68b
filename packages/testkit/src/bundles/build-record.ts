import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { THIS_CHECKOUT } from '../system/checkout.ts'

/** Which files the current bundle of a program was made from. */
export interface BuildRecord {
  /** The program, relative to the record. */
  readonly program: string
  /** The stamp of each file, by its path relative to the repository. */
  readonly stamps: Readonly<Record<string, string>>
}

/** The directory of all bundles of a program. */
export const bundlesOf = (entry: string): string =>
  path.join(
    THIS_CHECKOUT,
    'build/bundles',
    path
      .relative(THIS_CHECKOUT, entry)
      .replaceAll(/\.\.\//g, '')
      .replaceAll('/', '-')
      .replace(/\.ts$/, ''),
  )

export const recordFile = (entry: string): string => path.join(bundlesOf(entry), 'current.json')

/**
 * Differs once a file is written, replaced or removed. It holds the time of change, which no tool can set, other than
 * the time of modification: a file that is put back in place is another one.
 */
export function stampOf(file: string): string {
  const stat = statSync(path.resolve(THIS_CHECKOUT, file), { throwIfNoEntry: false })
  return stat === undefined ? 'missing' : `${stat.ino} ${stat.size} ${stat.ctimeMs}`
}

/** The bundle of a program if it was made from the files as they are now. */
export function upToDate(entry: string): string | null {
  const record = readRecord(entry)
  return record !== null && Object.entries(record.stamps).every(([file, stamp]) => stampOf(file) === stamp)
    ? path.join(bundlesOf(entry), record.program)
    : null
}

function readRecord(entry: string): BuildRecord | null {
  try {
    return JSON.parse(readFileSync(recordFile(entry), 'utf8')) as BuildRecord
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
