import { existsSync, readFileSync } from 'node:fs'
import { type ProcessOfRun, processesOf } from './leftovers.ts'

/** By itself vitest ends within its time-out of 10 s for workers. */
const PATIENCE_MS = 30_000

/**
 * Kills the processes that keep a run of vitest from ending. vitest waits until the output of its workers is closed. A
 * process that a test left behind keeps it open, and would block every run after this one.
 *
 * @param reportFile written when all tests have ended
 * @param ended resolves when vitest ends
 * @param patienceMs from the report to the first kill
 * @returns a line for each killed process
 */
export async function endWhatHoldsOpen(
  { reportFile, runId }: { readonly reportFile: string; readonly runId: string },
  ended: Promise<unknown>,
  patienceMs = PATIENCE_MS,
): Promise<readonly string[]> {
  const killed: string[] = []
  let reportedMs: number | null = null
  for (let running = true; running; ) {
    running = await stillRunning(ended, 500)
    if (!running || !existsSync(reportFile)) continue
    reportedMs ??= performance.now()
    if (performance.now() - reportedMs < patienceMs) continue
    for (const process of processesOf(runId).filter(({ pid }) => parentOf(pid) !== globalThis.process.pid))
      if (kill(process)) killed.push(process.line)
  }
  return killed
}

async function stillRunning(ended: Promise<unknown>, forMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const later = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), forMs)
  })
  const running = await Promise.race([ended.then(() => false), later])
  clearTimeout(timer)
  return running
}

function kill({ pid }: ProcessOfRun): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

/** Field 4 of /proc/PID/stat; 0 when the process has ended. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}
