import { readdirSync, readFileSync } from 'node:fs'
import { isAlive, readRecords, startTicks, waitFor } from '@spout/testkit'

/** The network namespaces and mounts of the machine, to which a test run must add none. */
export interface Standing {
  readonly namespaces: ReadonlySet<string>
  readonly mounts: readonly string[]
}

const list = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

const mounts = (): readonly string[] =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    // Each named namespace is a mount too; they are counted as namespaces.
    .filter((point) => point !== '' && !point.startsWith('/run/netns') && !point.startsWith('/var/run/netns'))

export const standing = (): Standing => ({ namespaces: new Set(list('/run/netns')), mounts: mounts() })

export interface ProcessOfRun {
  readonly pid: number
  /** For people: id and command line. */
  readonly line: string
}

/** Processes of a run, wherever they are: each inherited the run's id in its environment. */
export function processesOf(runId: string): readonly ProcessOfRun[] {
  return list('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((pid) => textOf(pid, 'environ').includes(`SPOUT_TEST_RUN=${runId}`))
    .map((pid) => {
      const command = textOf(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 120)
      return { pid: Number(pid), line: `process ${pid}: ${command}` }
    })
}

/** Empty when the process has ended. */
function textOf(pid: string, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

/**
 * Namespaces that belong to others: to persistent labs, labs of living processes, and running tests (`spt<pid>...-`).
 */
function belongsToSomebody(namespace: string): boolean {
  const pid = /^spt(\d+)(?:[a-z]\w*)?-/.exec(namespace)?.[1]
  if (pid !== undefined) return startTicks(Number(pid)) !== null
  return readRecords().some(
    ({ id, owner }) =>
      (namespace.startsWith(`${id}-`) || namespace.startsWith(`${id}n`)) && (owner === null || isAlive(owner)),
  )
}

function remaining(before: Standing, runId: string): readonly string[] {
  const counted = new Map<string, number>()
  for (const point of before.mounts) counted.set(point, (counted.get(point) ?? 0) + 1)
  const added = mounts().filter((point) => {
    const left = counted.get(point) ?? 0
    counted.set(point, left - 1)
    return left <= 0
  })
  return [
    ...list('/run/netns')
      .filter((name) => !before.namespaces.has(name) && !belongsToSomebody(name))
      .map((name) => `namespace ${name}`),
    ...added.map((point) => `mount ${point}`),
    ...processesOf(runId).map(({ line }) => line),
  ]
}

/** What the run left behind, after a moment for processes that are just ending. */
export async function leftovers(before: Standing, runId: string): Promise<readonly string[]> {
  await waitFor(() => remaining(before, runId).length === 0, {
    what: 'leftovers to go',
    timeoutMs: 5000,
    everyMs: 100,
  }).catch(() => {})
  return remaining(before, runId)
}
