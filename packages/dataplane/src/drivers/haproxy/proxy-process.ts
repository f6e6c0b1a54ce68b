import { readdir, readFile } from 'node:fs/promises'
import { endProcess, identifyProcess, type ProcessIdentity } from '@spout/sys'

const TERM_WITHIN_MS = 1_000

/** Every process that runs on this configuration file: the current one and those that still serve old connections. */
export async function processesOn(configPath: string): Promise<readonly ProcessIdentity[]> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
      return words[0]?.endsWith('haproxy') && words.includes(configPath) ? identifyProcess(pid) : null
    }),
  )
  return found.filter((process) => process !== null)
}

/** Ends them. Resolves once none is left. */
export async function endProcessesOn(configPath: string): Promise<void> {
  await Promise.all((await processesOn(configPath)).map((process) => endProcess(process, TERM_WITHIN_MS)))
}
