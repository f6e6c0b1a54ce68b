import { readFileSync } from 'node:fs'
import { processesOn } from '../../drivers/haproxy/place/proxy-process.ts'

/** The processes of a configuration file: their ids, and the memory that they have together. */
export async function proxyMemory(configPath: string): Promise<{ readonly pids: string; readonly bytes: number }> {
  const pids = (await processesOn(configPath)).map(({ pid }) => pid)
  const resident = (pid: number): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
  return { pids: pids.join(), bytes: pids.reduce((sum, pid) => sum + resident(pid), 0) }
}
