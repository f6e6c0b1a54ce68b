/** Builds a Go module's programs unless they are there: `node build-program.ts ORDER`, under the lock of the cache. */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { run } from '../lab/run.ts'
import { type BuildOrder, LONGEST_BUILD_MS } from './go-build.ts'
import { ensureGo } from './go-toolchain.ts'

const UNFINISHED = 'unfinished-'

async function build({ sources, target, packages, linkerFlags }: BuildOrder): Promise<void> {
  const cache = path.dirname(target)
  // The lock is exclusive: other unfinished builds belong to processes that were killed.
  for (const name of readdirSync(cache))
    if (name.startsWith(UNFINISHED)) rmSync(path.join(cache, name), { recursive: true, force: true })
  const go = await ensureGo((line) => process.stderr.write(`${line}\n`))
  const unfinished = mkdtempSync(path.join(cache, UNFINISHED))
  const argv = [
    ...['nice', '-n', '19', go, '-C', sources, 'build', '-trimpath', '-buildvcs=false', '-mod=readonly'],
    // No debug information, which takes time to make and to write.
    ...['-gcflags=all=-dwarf=false', '-ldflags', ['-s', '-w', ...linkerFlags].join(' ')],
    ...['-o', `${unfinished}/`, ...packages],
  ]
  // Trades memory for time: the compiler collects its garbage less often.
  const env = { CGO_ENABLED: '0', GOGC: '400', GOFLAGS: '', GOWORK: 'off', GOTOOLCHAIN: 'local' }
  const { code, stderr } = await run(argv, { timeoutMs: LONGEST_BUILD_MS, env })
  if (code !== 0) {
    rmSync(unfinished, { recursive: true, force: true })
    throw new Error(`go build: exit ${code}: ${stderr.trim().slice(-4000)}`)
  }
  renameSync(unfinished, target)
}

const order = JSON.parse(process.argv[2] ?? '') as BuildOrder
if (!existsSync(order.target)) await build(order)
