/** Builds the web page unless that is up to date: `node build-page-program.ts`, under the lock of the page. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { THIS_CHECKOUT } from '../system/checkout.ts'
import { PAGE, pageStamps, pageUpToDate, recordPage } from './page-record.ts'

const VITE = path.join(THIS_CHECKOUT, 'node_modules/vite/bin/vite.js')
const UNFINISHED = `${PAGE}.unfinished`

function build(): number {
  // Stamped before it is read: a file that changes meanwhile makes the page outdated.
  const stamps = pageStamps()
  const argv = [VITE, 'build', 'apps/dashboard', '--logLevel', 'warn', '--outDir', UNFINISHED, '--emptyOutDir']
  const { status } = spawnSync(process.execPath, argv, { cwd: THIS_CHECKOUT, stdio: 'inherit' })
  if (status !== 0) return 1
  // Somebody may read it now: what is the same stays.
  if (existsSync(PAGE) && isDeepStrictEqual(filesOf(PAGE), filesOf(UNFINISHED))) rmSync(UNFINISHED, { recursive: true })
  else {
    rmSync(PAGE, { recursive: true, force: true })
    renameSync(UNFINISHED, PAGE)
  }
  recordPage(stamps)
  return 0
}

/** The content of each file below a directory. */
const filesOf = (directory: string): ReadonlyMap<string, Buffer> =>
  new Map(
    (readdirSync(directory, { recursive: true }) as string[])
      .filter((file) => statSync(path.join(directory, file)).isFile())
      .map((file) => [file, readFileSync(path.join(directory, file))]),
  )

process.exitCode = pageUpToDate() ? 0 : build()
