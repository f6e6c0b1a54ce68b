import { exec } from '@spout/sys'

/** Above ordinary work, below the kernel's own threads. */
const PRIORITY = 10
/** A process that computes for so long without a pause has gone wrong: the kernel ends it before it takes a processor away. */
const RTTIME_US = 2_000_000

/**
 * Words to put before a command so that it runs real-time (SCHED_RR, inherited by its children): a node whose
 * processors are busy must go on sending adverts. Empty where the kernel or the container refuses.
 */
export async function realTimeWords(): Promise<readonly string[]> {
  const words = ['prlimit', `--rttime=${RTTIME_US}`, 'chrt', '--rr', String(PRIORITY)]
  const { code } = await exec(['prlimit', ...words.slice(1), 'true']).catch(() => ({ code: null }))
  return code === 0 ? words : []
}
