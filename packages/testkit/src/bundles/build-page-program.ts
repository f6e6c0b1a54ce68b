/** Builds the web page unless that is up to date: `node build-page-program.ts`, under the lock of the page. */
import { spawnSync } from 'node:child_process'
import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
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
  rmSync(PAGE, { recursive: true, force: true })
  renameSync(UNFINISHED, PAGE)
  recordPage(stamps)
  return 0
}

process.exitCode = pageUpToDate() ? 0 : build()
