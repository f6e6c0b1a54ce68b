import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { LONG_FILES } from './long-files.ts'
import { ROOT } from './verb.ts'

test('files that are known to be long are there, the longest first', () => {
  const files = [...LONG_FILES]
  expect(files.filter(([file]) => !existsSync(path.join(ROOT, file)))).toEqual([])
  expect(files).toEqual(files.toSorted(([, a], [, b]) => b - a))
})
