import { readdir, readlink, realpath } from 'node:fs/promises'
import type { NodePlace } from '../place.ts'

export interface AgentReading {
  /** The process that has the state file open; null for none. */
  readonly pid: number | null
  readonly stateFile: string
}

/** Finds the agent by the file that it alone holds open. */
export async function readAgentProcess({ stateFile }: NodePlace): Promise<AgentReading> {
  const file = await realpath(stateFile).catch(() => stateFile)
  const pids = (await readdir('/proc')).filter((name) => /^[1-9]/.test(name))
  const holders = await Promise.all(pids.map(async (pid) => ((await holds(pid, file)) ? [Number(pid)] : [])))
  return { pid: holders.flat()[0] ?? null, stateFile }
}

async function holds(pid: string, file: string): Promise<boolean> {
  const directory = `/proc/${pid}/fd`
  const open = await readdir(directory).catch(() => [])
  const targets = await Promise.all(open.map((fd) => readlink(`${directory}/${fd}`).catch(() => '')))
  return targets.includes(file)
}
