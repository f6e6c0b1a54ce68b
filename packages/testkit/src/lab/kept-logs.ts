import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type LabRecord, readRecords, runDirectoryOf, self } from './record.ts'

/** The end of a log tells most, and there are some ten of them in a lab. */
const LONGEST_LOG_BYTES = 1024 * 1024
/** A lab with many pods has more. */
const MOST_LOGS = 100

type KeptLab = Pick<LabRecord, 'id' | 'directory'>

/** Where the logs of labs go; null: nowhere. */
let place: string | null = null

/**
 * Keeps the logs of every lab that this process destroys from now on.
 * @param directory gets one directory for each lab; made with the first log. Null: none are kept any more
 */
export function keepLogsIn(directory: string | null): void {
  place = directory
}

/** Keeps the logs of the labs of this process that stand: a set-up that was given up destroys none. */
export function keepLogsOfStandingLabs(): void {
  const { pid, startTicks } = self()
  for (const record of readRecords())
    if (record.owner?.pid === pid && record.owner.startTicks === startTicks) keepLogsOf(record)
}

/**
 * Copies the ends of a lab's logs to where logs are kept, if that is set. Lacks a log that cannot be read or written: it
 * is called while a lab is destroyed, which must not fail.
 */
export function keepLogsOf({ id, directory }: KeptLab): void {
  if (place === null) return
  const found = [directory, runDirectoryOf(id)].flatMap((from) => logsIn(from).map((name) => ({ from, name })))
  for (const { from, name } of found.slice(0, MOST_LOGS)) {
    const target = path.join(place, id, name)
    try {
      mkdirSync(path.dirname(target), { recursive: true })
      writeFileSync(target, endOf(path.join(from, name)))
    } catch {
      // It was removed meanwhile, or the disk is full.
    }
  }
}

/** BIRD and FRR call theirs `log`. */
const isLog = (name: string): boolean => name.endsWith('.log') || path.basename(name) === 'log'

function logsIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(isLog)
  } catch {
    return []
  }
}

function endOf(file: string): Buffer {
  const log = openSync(file, 'r')
  try {
    const { size } = fstatSync(log)
    const bytes = Buffer.alloc(Math.min(size, LONGEST_LOG_BYTES))
    return bytes.subarray(0, readSync(log, bytes, 0, bytes.length, size - bytes.length))
  } finally {
    closeSync(log)
  }
}
