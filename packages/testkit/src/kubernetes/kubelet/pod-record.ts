import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ProcessId } from '../../lab/record.ts'
import { shortId } from './config.ts'

/** What a kubelet must know of a pod that an earlier one started. */
export interface PodRecord {
  readonly uid: string
  readonly startedAt: string
  /** Host number of its addresses; null in the host network. */
  readonly host: number | null
  readonly processes: Readonly<Record<string, ProcessId>>
}

const fileOf = (directory: string, uid: string): string => path.join(directory, `${shortId(uid)}.json`)

export function writePodRecord(directory: string, record: PodRecord): void {
  const file = fileOf(directory, record.uid)
  writeFileSync(`${file}.new`, JSON.stringify(record))
  renameSync(`${file}.new`, file)
}

export const removePodRecord = (directory: string, uid: string): void => rmSync(fileOf(directory, uid), { force: true })

export const readPodRecords = (directory: string): readonly PodRecord[] =>
  readdirSync(directory)
    .filter((file) => /^[0-9a-f]{12}\.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(path.join(directory, file), 'utf8')) as PodRecord)
