import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')
const MADE = /Arrangement\.create\(`spt\$\{process\.pid\}(\w+)`\)/g

/** Test files run side by side in threads of one process: what tells their namespaces apart is a letter of their own. */
it('no two labs make namespaces of the same names', () => {
  const files = new Map<string, string[]>()
  for (const file of globSync('packages/**/*.ts', { cwd: ROOT, exclude: ['**/node_modules/**'] }))
    for (const [, letter = ''] of readFileSync(path.join(ROOT, file), 'utf8').matchAll(MADE))
      files.set(letter, [...(files.get(letter) ?? []), file])
  expect(files.size).toBeGreaterThan(10)
  expect([...files].filter(([, of]) => new Set(of).size > 1)).toEqual([])
})
