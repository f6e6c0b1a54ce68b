import { basename } from 'node:path'
import { endProcess, type FoundProcess, findProcesses, type ProcessIdentity } from '@spout/sys'

const TERM_WITHIN_MS = 1_000

/** All HAProxy processes on the machine. */
const proxies = (): Promise<readonly FoundProcess[]> => findProcesses((words) => words[0]?.endsWith('haproxy') === true)

/** All processes that run on this configuration file: the current one and replaced ones. */
export async function processesOn(configPath: string): Promise<readonly ProcessIdentity[]> {
  return (await proxies()).filter(({ words }) => words.includes(configPath))
}

/** Ends the process of password-checker.ts with this file for its id, if there is one. */
export async function endPasswordsOf(pidFile: string): Promise<void> {
  const found = await findProcesses(
    ([program = '', ...words]) => basename(program).startsWith('spout-passwords') && words.includes(pidFile),
  )
  await Promise.all(found.map((process) => endProcess(process, TERM_WITHIN_MS)))
}

/** Counts processes by configuration file. */
export async function processesByConfig(): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { words } of await proxies()) {
    const config = words[words.indexOf('-f') + 1] ?? ''
    counts.set(config, (counts.get(config) ?? 0) + 1)
  }
  return counts
}

/** Ends them. Resolves when all are gone. */
export async function endProcessesOn(configPath: string): Promise<void> {
  await Promise.all((await processesOn(configPath)).map((process) => endProcess(process, TERM_WITHIN_MS)))
}
