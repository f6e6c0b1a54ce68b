import { writeFileSync } from 'node:fs'
import type { Lab } from '@spout/testkit'
import { peakResidentMb, proxyProcesses, residentMb } from '../bed/processes.ts'

/** The memory of the largest proxy of the lab, resident, before an attack and at its most during it. */
export interface ProxyMemory {
  readonly beforeMb: number
  readonly peakMb: number
}

const pidsOf = async (lab: Lab): Promise<readonly number[]> =>
  (await proxyProcesses(lab)).map((identity) => Number(identity.split('/')[0]))
const largest = (pids: readonly number[], of: (pid: number) => number): number => Math.max(0, ...pids.map(of))

/** Begins to watch: forgets earlier peaks (`/proc/PID/clear_refs`, proc(5)). */
export async function watchProxies(lab: Lab): Promise<() => Promise<ProxyMemory>> {
  const pids = await pidsOf(lab)
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const beforeMb = largest(pids, residentMb)
  return async () => ({ beforeMb, peakMb: largest(await pidsOf(lab), peakResidentMb) })
}
