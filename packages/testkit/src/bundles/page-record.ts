import { type Dirent, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { THIS_CHECKOUT } from '../system/checkout.ts'
import { stampOf } from './build-record.ts'

/** Where the control plane of a checkout finds the built page. */
export const PAGE = path.join(THIS_CHECKOUT, 'build/dashboard')
export const RECORD = `${PAGE}.json`
const SOURCES = 'apps/dashboard'

/** The stamp of each file that the page is made of, by its path relative to the repository. */
export const pageStamps = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ['node_modules/.package-lock.json', ...sourcesOfPage()].sort().map((file) => [file, stampOf(file)]),
  )

/** Whether the page was built of the files as they are now. */
export const pageUpToDate = (): boolean =>
  existsSync(path.join(PAGE, 'index.html')) &&
  existsSync(RECORD) &&
  readFileSync(RECORD, 'utf8') === JSON.stringify(pageStamps())

export const recordPage = (stamps: Readonly<Record<string, string>>): void =>
  writeFileSync(RECORD, JSON.stringify(stamps))

/** Its own files, and those of our packages that it uses. */
function sourcesOfPage(): readonly string[] {
  const { dependencies } = JSON.parse(readFileSync(path.join(THIS_CHECKOUT, SOURCES, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const ours = Object.keys(dependencies).filter((name) => name.startsWith('@spout/'))
  const used = ours.map((name) => name.replace('@spout/', 'packages/'))
  const patterns = [`${SOURCES}/**/*`, ...used.flatMap((at) => [`${at}/package.json`, `${at}/src/**/*.ts`])]
  return globSync(patterns, { cwd: THIS_CHECKOUT, withFileTypes: true, exclude: isForeign })
    .filter((entry) => entry.isFile() && !isTest(entry))
    .map(({ parentPath, name }) => path.relative(THIS_CHECKOUT, path.join(parentPath, name)))
}

const isForeign = ({ name }: Dirent): boolean => name === 'node_modules'
const isTest = ({ name }: Dirent): boolean => /\.test\.tsx?$/.test(name)
