import { exec } from '@spout/sys'

/** Above ordinary processes, below the kernel's own threads. */
const PRIORITY = 10
/** The kernel ends a process that computes this long without a pause, before it blocks a processor. */
const RTTIME_US = 2_000_000

/**
 * Command prefix that runs a command with real-time priority (SCHED_RR, inherited by its children), since a node with
 * busy processors must still send adverts. Empty if the kernel or the container refuses it.
 */
export async function realTimeWords(): Promise<readonly string[]> {
  const words = ['prlimit', `--rttime=${RTTIME_US}`, 'chrt', '--rr', String(PRIORITY)]
  const { code } = await exec(['prlimit', ...words.slice(1), 'true']).catch(() => ({ code: null }))
  return code === 0 ? words : []
}
