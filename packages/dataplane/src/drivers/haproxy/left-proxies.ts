import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { proxyFiles, removeProxyFiles } from './proxy-files.ts'
import type { ProxyHost } from './proxy-host.ts'
import { endProcessesOn } from './proxy-process.ts'

/** Ends proxies of domains that nothing is known of: an earlier agent left them and nobody wants them any more. */
export async function endLeftProxies(runDirectory: string, known: ReadonlySet<string>, host: ProxyHost): Promise<void> {
  const names = await readdir(runDirectory).catch(() => [])
  for (const name of names.filter((name) => !known.has(name))) {
    const files = proxyFiles(join(runDirectory, name))
    await endProcessesOn(files.config)
    await host.release(name)
    await removeProxyFiles(files)
  }
}
