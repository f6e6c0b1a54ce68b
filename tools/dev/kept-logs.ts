import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'

/** How many directories of logs are kept. The oldest are removed. */
const MOST_KEPT = 20

const logsRoot = (root: string): string => path.join(root, 'build', 'test', 'logs')

/** A directory's name begins with the file and the run. The process follows, since a file that failed runs twice. */
const beginning = (file: string, runId: string): string => `${file.replaceAll('/', '_')}.${runId.slice(0, 8)}.`

/** Where the logs of a test file's labs go. @param file relative to the repository's root */
export const logDirectory = (root: string, file: string, runId: string): string =>
  path.join(logsRoot(root), `${beginning(file, runId)}${process.pid}`)

/** The directories with logs of a test file that failed in a run, relative to the repository's root. */
export const logsOf = (root: string, file: string, runId: string): readonly string[] =>
  namesIn(root)
    .filter((name) => file !== '' && name.startsWith(beginning(file, runId)))
    .map((name) => path.relative(root, path.join(logsRoot(root), name)))

/** Removes the oldest logs, so that failures do not fill the disk. */
export function removeOldLogs(root: string): void {
  const byAge = namesIn(root)
    .map((name) => path.join(logsRoot(root), name))
    .map((directory) => ({ directory, sinceMs: statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((one, other) => other.sinceMs - one.sinceMs)
  for (const { directory } of byAge.slice(MOST_KEPT)) rmSync(directory, { recursive: true, force: true })
}

function namesIn(root: string): readonly string[] {
  try {
    return readdirSync(logsRoot(root)).toSorted()
  } catch {
    return []
  }
}
