import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { ROOMS, roomViolations, testingViolations } from './rooms.ts'

it('folders of a package import downwards only', () =>
  expect(roomViolations(path.resolve(import.meta.dirname, '../..'), ROOMS)).toEqual([]))

/** Runs the check over files of one folder `src`. */
function violationsOf(files: Readonly<Record<string, string>>, rooms: Parameters<typeof roomViolations>[1][string]) {
  const root = mkdtempSync(path.join(tmpdir(), 'spout-rooms-'))
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(path.join(root, 'src', path.dirname(file)), { recursive: true })
      writeFileSync(path.join(root, 'src', file), text)
    }
    return [...roomViolations(root, { src: rooms })].sort()
  } finally {
    rmSync(root, { recursive: true })
  }
}

it('names an upward import, a file outside of the folders, and an unlisted folder', () => {
  const files = {
    'index.ts': "export * from './high/c.ts'",
    'low/a.ts': "import { c } from '../high/c.ts'",
    'low/b.ts': "import { i } from '../index.ts'",
    'low/b.test.ts': "import { c } from '../high/c.ts'",
    'low/outside.ts': "import { o } from '../../outside/o.ts'",
    'high/c.ts': "import { a } from '../low/a.ts'",
    'attic/d.ts': '',
    'testing/e.ts': "import { c } from '../high/c.ts'",
  }
  expect(violationsOf(files, ['low', 'high'])).toEqual([
    'src/attic/d.ts: attic is not a room of src',
    'src/low/a.ts: low imports from high, which does not come before it',
    'src/low/b.ts: low imports from index.ts, which does not come before it',
  ])
})

it('names an import of a neighbour, and one from a folder into its own subfolder', () => {
  const files = {
    'wing/shared.ts': "import { b } from './east/b.ts'",
    'wing/east/b.ts': "import { s } from '../shared.ts'\nimport { d } from './deep/d.ts'",
    'wing/east/deep/d.ts': "import { c } from '../../west/c.ts'",
    'wing/west/c.ts': "import { e } from '../../annex/e.ts'",
    'annex/e.ts': "import { s } from '../wing/shared.ts'",
  }
  expect(violationsOf(files, ['wing', ['wing/*', 'annex']])).toEqual([
    'src/wing/east/deep/d.ts: wing/east imports from wing/west, which does not come before it',
    'src/wing/shared.ts: wing imports from wing/east, which does not come before it',
    'src/wing/west/c.ts: wing/west imports from annex, which does not come before it',
  ])
})

it('reads what files in C include', () => {
  const files = {
    'main.c': '#include "high/c.h"',
    'low/a.c': '#include <stdio.h>\n#include "a.h"\n#include "../high/c.h"',
    'low/a.h': '#include "../../daemon/memory.h"',
    'high/c.h': '#include "../low/a.h"',
  }
  expect(violationsOf(files, ['low', 'high'])).toEqual([
    'src/low/a.c: low imports from high, which does not come before it',
  ])
})

it('imports of products name nothing that is for tests', () =>
  expect(testingViolations(path.resolve(import.meta.dirname, '../..'))).toEqual([]))
