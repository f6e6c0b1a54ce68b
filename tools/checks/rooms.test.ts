import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { ROOMS, roomViolations } from './rooms.ts'

it('folders of a package import downwards only', () =>
  expect(roomViolations(path.resolve(import.meta.dirname, '../..'), ROOMS)).toEqual([]))

it('names an import that goes up, one beside the folders, and a folder that is not listed', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'spout-rooms-'))
  try {
    const files = {
      'index.ts': "export * from './high/c.ts'",
      'low/a.ts': "import { c } from '../high/c.ts'",
      'low/b.ts': "import { i } from '../index.ts'",
      'low/b.test.ts': "import { c } from '../high/c.ts'",
      'high/c.ts': "import { a } from '../low/a.ts'",
      'attic/d.ts': '',
      'testing/e.ts': "import { c } from '../high/c.ts'",
    }
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(path.join(root, 'src', path.dirname(file)), { recursive: true })
      writeFileSync(path.join(root, 'src', file), text)
    }
    expect([...roomViolations(root, { src: ['low', 'high'] })].sort()).toEqual([
      'src/attic/d.ts: attic is no room of src',
      'src/low/a.ts: low imports from high, which does not come before it',
      'src/low/b.ts: low imports from index.ts, which does not come before it',
    ])
  } finally {
    rmSync(root, { recursive: true })
  }
})
