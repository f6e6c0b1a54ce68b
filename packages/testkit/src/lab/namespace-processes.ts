import { readFileSync } from 'node:fs'
import { run } from './run.ts'

/** Processes in a network namespace; none when there is no such namespace. */
export async function pidsIn(namespace: string): Promise<readonly number[]> {
  const { stdout } = await run(['ip', 'netns', 'pids', namespace])
  return stdout.split('\n').filter(Boolean).map(Number)
}

/** The name of a process's program; empty when the process has ended. */
export function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Kills a process at once. */
export const killPid = (pid: number): void => signalPid(pid, 'SIGKILL')

/** Sends a signal to a process that may have just ended. */
export function signalPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself in between.
  }
}
