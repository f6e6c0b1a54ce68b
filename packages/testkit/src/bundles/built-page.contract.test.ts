import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { THIS_CHECKOUT } from '../system/checkout.ts'
import { builtPage } from './built-page.ts'
import { PAGE, pageStamps, RECORD } from './page-record.ts'

const SOURCE = 'apps/dashboard/index.html'
const BUILD_MS = 120_000

/** The text of each file of the page, by its path. */
const pageNow = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(PAGE, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name))
      .sort()
      .map((file) => [file, readFileSync(file, 'utf8')]),
  )

it(
  'the page is built again when a source is another, and only then; the same sources give the same page',
  () => {
    expect(builtPage()).toBe(PAGE)
    const [before, { ino }, builtAt] = [pageNow(), statSync(PAGE), statSync(RECORD).mtimeMs]
    builtPage()
    expect(statSync(RECORD).mtimeMs).toBe(builtAt)
    const now = new Date()
    utimesSync(path.join(THIS_CHECKOUT, SOURCE), now, now)
    builtPage()
    expect(statSync(RECORD).mtimeMs).not.toBe(builtAt)
    expect(pageNow()).toEqual(before)
    // Nobody who reads it meanwhile is disturbed.
    expect(statSync(PAGE).ino).toBe(ino)
  },
  BUILD_MS,
)

it('it is that for users, also when a test builds it', () => {
  builtPage()
  const scripts = [...pageNow()].filter(([file]) => file.endsWith('.js')).map(([, text]) => text)
  expect(scripts.some((text) => text.includes('Minified React error'))).toBe(true)
  expect(scripts.some((text) => text.includes(THIS_CHECKOUT))).toBe(false)
})

it('its sources are those of the page and of the packages that it uses, without their tests', () => {
  const files = Object.keys(pageStamps())
  for (const file of [
    SOURCE,
    'apps/dashboard/src/main.tsx',
    'packages/model/src/index.ts',
    'packages/plan/src/index.ts',
  ])
    expect(files).toContain(file)
  expect(files.filter((file) => /\.test\.|node_modules\/(?!\.package-lock)/.test(file))).toEqual([])
})
