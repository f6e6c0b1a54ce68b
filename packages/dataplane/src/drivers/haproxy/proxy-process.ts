import { readdir, readFile } from 'node:fs/promises'
import { endProcess, identifyProcess, type ProcessIdentity } from '@spout/sys'

const TERM_WITHIN_MS = 1_000

interface Found {
  readonly pid: number
  /** Its command line. */
  readonly words: readonly string[]
}

/** Every HAProxy on the machine. */
async function proxies(): Promise<readonly Found[]> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
      return words[0]?.endsWith('haproxy') ? { pid, words } : null
    }),
  )
  return found.filter((process) => process !== null)
}

/** Every process that runs on this configuration file: the current one and those that still serve old connections. */
export async function processesOn(configPath: string): Promise<readonly ProcessIdentity[]> {
  const found = (await proxies()).filter(({ words }) => words.includes(configPath))
  return (await Promise.all(found.map(({ pid }) => identifyProcess(pid)))).filter((process) => process !== null)
}

/** How many processes run on each configuration file. */
export async function processesByConfig(): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { words } of await proxies()) {
    const config = words[words.indexOf('-f') + 1] ?? ''
    counts.set(config, (counts.get(config) ?? 0) + 1)
  }
  return counts
}

/** Ends them. Resolves once none is left. */
export async function endProcessesOn(configPath: string): Promise<void> {
  await Promise.all((await processesOn(configPath)).map((process) => endProcess(process, TERM_WITHIN_MS)))
}
