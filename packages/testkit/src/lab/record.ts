import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** A process by id. The pid may have been reused; the start time tells. */
export interface ProcessId {
  readonly pid: number
  /** Clock ticks after boot, field 22 of /proc/PID/stat. */
  readonly startTicks: string
}

/** The parts of a lab, recorded before they are created, so that they can be removed by id. */
export interface LabRecord {
  readonly id: string
  readonly number: number
  /** The process that removes it; null for a lab that stays until `down`. */
  readonly owner: ProcessId | null
  readonly directory: string
  readonly processes: readonly (ProcessId & { readonly name: string })[]
}

const RECORDS = '/run/spout-lab'

/** Where a lab's sockets and the state of its daemons are. */
export const runDirectoryOf = (id: string): string => path.join(RECORDS, id)

/**
 * When a process started; null when it has ended. A process whose first thread has ended is a zombie to the eye (`Z`), and
 * holds its ports and files until the last of its threads has ended (proc_pid_stat(5)): it has not ended.
 */
export function startTicks(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command in parentheses may hold anything: fields are counted after the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, threads, ticks] = [fields[0], Number(fields[17]), fields[19]]
    return state === 'Z' && threads <= 1 ? null : (ticks ?? null)
  } catch {
    return null
  }
}

export const isAlive = (id: ProcessId): boolean => startTicks(id.pid) === id.startTicks

export const self = (): ProcessId => ({ pid: process.pid, startTicks: startTicks(process.pid) ?? '' })

const recordPath = (id: string): string => path.join(RECORDS, `${id}.json`)

export function writeRecord(record: LabRecord): void {
  mkdirSync(RECORDS, { recursive: true })
  const temporary = `${recordPath(record.id)}.${process.pid}`
  writeFileSync(temporary, JSON.stringify(record))
  renameSync(temporary, recordPath(record.id))
}

export function readRecord(id: string): LabRecord | null {
  try {
    return JSON.parse(readFileSync(recordPath(id), 'utf8')) as LabRecord
  } catch {
    return null
  }
}

export function readRecords(): readonly LabRecord[] {
  try {
    return readdirSync(RECORDS)
      .filter((file) => file.endsWith('.json'))
      .map((file) => readRecord(file.slice(0, -'.json'.length)))
      .filter((record) => record !== null)
  } catch {
    return []
  }
}

export const removeRecord = (id: string): void => rmSync(recordPath(id), { force: true })

/** Claims a free lab number: creating the directory is the lock. */
export function claimNumber(): number {
  mkdirSync(path.join(RECORDS, 'numbers'), { recursive: true })
  const taken = new Set(readRecords().map((record) => record.number))
  for (let number = 0; number < 100; number++) {
    const claim = path.join(RECORDS, 'numbers', String(number))
    try {
      mkdirSync(claim)
    } catch {
      const holder = readFileSyncOrNull(path.join(claim, 'pid'))
      const abandoned = !taken.has(number) && holder !== null && !isAlive(JSON.parse(holder) as ProcessId)
      if (!abandoned) continue
    }
    // Others read it at any time: they see none, or a whole one.
    const temporary = path.join(claim, `pid.${process.pid}`)
    writeFileSync(temporary, JSON.stringify(self()))
    renameSync(temporary, path.join(claim, 'pid'))
    return number
  }
  throw new Error('100 labs stand already: take some down')
}

export const releaseNumber = (number: number): void =>
  rmSync(path.join(RECORDS, 'numbers', String(number)), { recursive: true, force: true })

function readFileSyncOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
