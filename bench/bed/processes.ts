import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Lab, pidsIn, programOf, startTicks } from '@spout/testkit'

/** Proxies that run in the domains of the lab's nodes, as `pid/start`: the same before and after means no reload. */
export async function proxyProcesses(lab: Lab): Promise<readonly string[]> {
  const found: string[] = []
  for (const namespace of domainNamespaces(lab))
    for (const pid of await pidsIn(namespace)) if (programOf(pid) === 'haproxy') found.push(`${pid}/${startTicks(pid)}`)
  return found.sort()
}

/** Namespaces of the tenants' networks on the nodes of a lab. */
export const domainNamespaces = (lab: Lab): readonly string[] =>
  readdirSync('/run/netns').filter((name) => name.startsWith(`${lab.id}n`))

/** Children of a process, theirs included. */
export function descendants(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return children.flatMap((child) => [Number(child), ...descendants(Number(child))])
}

const kilobytes = (file: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1])

/** Ticks of the clock in which Linux tells processes' times (USER_HZ, the same on every architecture we run on). */
const TICKS_PER_SECOND = 100

/** Seconds of processor time that a process has had by itself, in user and kernel mode. */
export function ownCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  // proc(5): utime and stime are fields 14 and 15; behind the name comes the third.
  const ticks = fields.slice(11, 13).map(Number)
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND
}

/** The same of a process with those of its children that run. */
export const cpuSeconds = (pid: number): number =>
  [pid, ...descendants(pid)].reduce((sum, each) => sum + ownCpuSeconds(each), 0)

const IDLE_FOR_MS = 500
/** Of one processor. What idle servers do by timers is less. */
const IDLE_SHARE = 0.05
const MOST_WAITS = 240

/**
 * Resolves once processes have had next to no processor time for half a second.
 * @param seconds their processor time so far
 * @throws Error when they are still busy after two minutes
 */
export async function untilIdle(seconds: () => number, wait: (ms: number) => Promise<void> = sleep): Promise<void> {
  for (let waits = 0; waits < MOST_WAITS; waits++) {
    const before = seconds()
    await wait(IDLE_FOR_MS)
    if (seconds() - before <= (IDLE_FOR_MS / 1000) * IDLE_SHARE) return
  }
  throw new Error('the processes are still busy two minutes after the last request')
}

/** Resident memory of a process in MB. */
export const residentMb = (pid: number): number => kilobytes(`/proc/${pid}/status`, 'VmRSS') / 1024
export const peakResidentMb = (pid: number): number => kilobytes(`/proc/${pid}/status`, 'VmHWM') / 1024
/** Proportional share: what is shared with others counts by parts. */
export const proportionalMb = (pid: number): number => kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss') / 1024
