import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isErrno } from './errno.ts'

/**
 * Identifies a process by its id and start time, since process ids are reused. Saved on disk, it lets a restarted agent
 * find its daemons and never signal another process.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from boot to its start: field 22 of `/proc/<pid>/stat`. */
  readonly startTicks: number
}

export interface DaemonOptions {
  /** The file that stdout and stderr are appended to. */
  readonly logFile: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  readonly gid?: number
}

/** Starts a process that outlives this one. @throws if it cannot be executed */
export async function startDaemon(
  argv: readonly [string, ...string[]],
  options: DaemonOptions,
): Promise<ProcessIdentity> {
  const [file, ...args] = argv
  await using log = await open(options.logFile, 'a', 0o600)
  const { cwd, uid, gid, env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } } = options
  const child = spawn(file, args, { cwd, uid, gid, env, detached: true, stdio: ['ignore', log.fd, log.fd] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  child.on('error', () => undefined)
  child.unref()
  const identity = await identifyProcess(child.pid!)
  if (identity === null) throw new Error(`${file} ended at once: exit ${child.signalCode ?? child.exitCode}`)
  return identity
}

/**
 * Identity of the process with this id; null if there is none, or only a zombie. A process whose first thread has ended
 * looks like a zombie, but keeps its ports and files until its last thread has ended: it still runs.
 *
 * Daemons are looked at many times a second. The file is of the kernel's memory and takes microseconds; through the
 * thread pool it took ten times as much processor time.
 */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | null> {
  try {
    const { state, threads, startTicks } = parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return state === 'X' || (state === 'Z' && threads <= 1) ? null : { pid, startTicks }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH')) return null
    throw error
  }
}

export interface FoundProcess extends ProcessIdentity {
  /** Its command line. */
  readonly words: readonly string[]
}

/** Finds processes of this machine by their command line. */
export async function findProcesses(isWanted: (words: readonly string[]) => boolean): Promise<readonly FoundProcess[]> {
  const numbers = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))
  const found = await Promise.all(
    numbers.map(async (name) => {
      const words = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).split('\0')
      const identity = isWanted(words) ? await identifyProcess(Number(name)) : null
      return identity && { ...identity, words }
    }),
  )
  return found.filter((process) => process !== null)
}

/** Whether the process runs another executable than the installed one, as it does after an upgrade. */
export const runsAnotherProgram = ({ pid }: ProcessIdentity, executable: string): Promise<boolean> =>
  areTwoFiles(`/proc/${pid}/exe`, executable)

/** @param netns path of a network namespace; absent for this process's own */
export const isInAnotherNetns = ({ pid }: ProcessIdentity, netns = '/proc/self/ns/net'): Promise<boolean> =>
  areTwoFiles(`/proc/${pid}/ns/net`, netns)

/** Whether the paths lead to two different files. False also if one of them does not exist. */
async function areTwoFiles(...paths: readonly [string, string]): Promise<boolean> {
  const [one, other] = await Promise.all(paths.map((path) => stat(path).catch(() => null)))
  return one != null && other != null && (one.dev !== other.dev || one.ino !== other.ino)
}

/** Whether this process still runs. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  return (await identifyProcess(identity.pid))?.startTicks === identity.startTicks
}

/**
 * Whether this id is in use. Unlike `isRunning` it reads no file. A zombie counts, and so does another process that has
 * got the id.
 */
export function isIdInUse(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return false
    if (isErrno(error, 'EPERM')) return true
    throw error
  }
}

/** Signals this process; false if it is gone. */
export async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isRunning(identity))) return false
  try {
    return process.kill(identity.pid, signal)
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return false
    throw error
  }
}

/** Ends a process: SIGTERM, and SIGKILL if it still runs after `graceMs`. Resolves when it is gone. */
export async function endProcess(identity: ProcessIdentity, graceMs: number): Promise<void> {
  await signalProcess(identity, 'SIGTERM')
  if (await gone(identity, graceMs)) return
  await signalProcess(identity, 'SIGKILL')
  if (!(await gone(identity, KILL_DEADLINE_MS))) throw new Error(`process ${identity.pid} does not end`)
}

const KILL_DEADLINE_MS = 5_000
const POLL_MS = 10

async function gone(identity: ProcessIdentity, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  while (await isRunning(identity)) {
    if (performance.now() >= deadline) return false
    await sleep(POLL_MS)
  }
  return true
}

export interface ProcStat {
  /** One letter; `Z` as soon as the first thread has ended, though others run. */
  readonly state: string
  readonly threads: number
  readonly startTicks: number
}

/**
 * Reads `/proc/<pid>/stat` (proc_pid_stat(5)). The name in parentheses may contain spaces and parentheses, so fields are
 * counted from the last parenthesis.
 */
export function parseProcStat(text: string): ProcStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', threads: Number(fields[17]), startTicks: Number(fields[19]) }
}
