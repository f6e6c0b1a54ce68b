import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** fast-check's own unit for any code point: see `packages/testkit/src/code-point.ts`. */
const TABLE = /unit: 'binary'/i

it('property tests draw code points without a table of all of them', () => {
  const files = globSync(['{packages,apps,tools}/**/src/**/*.test.ts', 'e2e/**/*.test.ts'], { cwd: ROOT })
  expect(files.length).toBeGreaterThan(400)
  expect(files.filter((file) => TABLE.test(readFileSync(path.join(ROOT, file), 'utf8')))).toEqual([])
})
