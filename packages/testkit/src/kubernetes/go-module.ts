import path from 'node:path'
import { must } from '../lab/run.ts'
import { ensureGo } from './go-toolchain.ts'

/**
 * The folder of a Go module's files, which is read-only. The module is fetched once, and checked against Go's checksum
 * database.
 */
export async function moduleFolder(module: string, version: string, folder = ''): Promise<string> {
  const go = await ensureGo(() => {})
  const answer = await must([go, 'mod', 'download', '-json', `${module}@${version}`], {
    timeoutMs: 300_000,
    env: { GO111MODULE: 'on', GOFLAGS: '-mod=mod', GOWORK: 'off' },
  })
  return path.join((JSON.parse(answer) as { readonly Dir: string }).Dir, folder)
}
