import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProxyHost } from '../place/proxy-host.ts'
import { endPasswordsOf, endProcessesOn } from '../place/proxy-process.ts'
import { proxyFiles, removeProxyFiles } from './proxy-files.ts'

/** Ends proxies that an earlier agent left, of domains that this agent does not know. */
export async function endLeftProxies(runDirectory: string, known: ReadonlySet<string>, host: ProxyHost): Promise<void> {
  const names = await readdir(runDirectory).catch(() => [])
  for (const name of names.filter((name) => !known.has(name))) {
    const files = proxyFiles(join(runDirectory, name), runDirectory)
    await endProcessesOn(files.config)
    await endPasswordsOf(files.passwords.pid)
    await host.release(name)
    await removeProxyFiles(files)
  }
}
