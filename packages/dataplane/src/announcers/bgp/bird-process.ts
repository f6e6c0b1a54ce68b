import { readFile } from 'node:fs/promises'
import { type Clock, pause } from '@spout/runtime'
import {
  endProcess,
  exec,
  execOk,
  identifyProcess,
  isRunning,
  type ProcessIdentity,
  runIn,
  signalProcess,
} from '@spout/sys'
import type { BirdFiles } from './bird-files.ts'

export interface BirdCommand {
  readonly executable: string
  /** Null is root. */
  readonly user: string | null
  /** Network namespace by name; null is that of this process. */
  readonly namespace: string | null
  /** Real-time priority, where the machine permits it, since a late packet makes a neighbour appear lost. */
  readonly realTime: boolean
}

const END_WITHIN_MS = 2_000
const PID_WITHIN_MS = 2_000
const LOOK_EVERY_MS = 2
/** SCHED_RR at the low end of the real-time priorities. */
const REAL_TIME = ['chrt', '--rr', '5'] as const
const NEARLY_REAL_TIME = ['nice', '-n', '-20'] as const

/** @returns the daemon's error text if it refuses the configuration, else null */
export async function refusalOf({ executable }: BirdCommand, config: string): Promise<string | null> {
  const { code, stderr } = await exec([executable, '-p', '-c', config])
  return code === 0 ? null : stderr.trim() || `exit ${code}`
}

/**
 * Starts the daemon, which outlives this process.
 * @param restarted it replaces one that died: peers are told so and keep forwarding (RFC 4724 section 4.1)
 * @throws ExecError with its error text
 */
export async function startBird(
  { executable, user, namespace, realTime }: BirdCommand,
  files: BirdFiles,
  restarted: boolean,
  clock: Clock,
): Promise<ProcessIdentity> {
  await files.forgetPid()
  const priority = !realTime ? [] : (await mayBeRealTime()) ? REAL_TIME : NEARLY_REAL_TIME
  const argv: readonly string[] = [
    ...priority,
    executable,
    ...['-c', files.config, '-s', files.controlSocket, '-P', files.pid],
    ...(user === null ? [] : ['-u', user, '-g', user]),
    ...(restarted ? ['-R'] : []),
  ]
  // The daemon prints times in its zone.
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  await runIn(namespace, argv as readonly [string, ...string[]], { env })
  const deadline = clock.monotonicMs() + PID_WITHIN_MS
  for (;;) {
    const identity = await runningBird(files)
    if (identity !== null) return identity
    if (clock.monotonicMs() >= deadline) throw new Error('the routing daemon ended right after its start')
    await pause(clock, LOOK_EVERY_MS)
  }
}

/** The daemon on these files, whoever started it; null if none runs. */
export async function runningBird(files: BirdFiles): Promise<ProcessIdentity | null> {
  const pid = await files.readPid()
  if (pid === null) return null
  const identity = await identifyProcess(pid)
  // Process ids are reused. Ours has our socket in its command line.
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
  return words.includes(files.controlSocket) ? identity : null
}

/** On SIGTERM the daemon notifies its peers, which forget its routes. */
export const endBird = (process: ProcessIdentity): Promise<void> => endProcess(process, END_WITHIN_MS)

/**
 * Kills the daemon without a BGP notification: its peers see a crash and, with graceful restart, wait for the next
 * daemon.
 */
export async function killBird(process: ProcessIdentity, clock: Clock): Promise<void> {
  await signalProcess(process, 'SIGKILL')
  while (await isRunning(process)) await pause(clock, LOOK_EVERY_MS)
}

/** Refused in a control group without a real-time share (cgroup v1), or in a container without the right. */
const mayBeRealTime = (): Promise<boolean> =>
  execOk([...REAL_TIME, 'true']).then(
    () => true,
    () => false,
  )
