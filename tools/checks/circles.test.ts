import path from 'node:path'
import { expect, it } from 'vitest'
import { cModules } from '../source-graph/c-modules.ts'
import { typescriptImports } from '../source-graph/typescript-imports.ts'
import { KNOWN, violations } from './circles.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const [files, modules] = [typescriptImports(ROOT), cModules(ROOT)]

it('no file needs itself by way of others, but for those that are known', () =>
  expect(violations([files, modules], KNOWN)).toEqual([]))

it('a new circle is refused, and so is a known one that is gone', () => {
  const graph = new Map([
    ['a.ts', new Set(['b.ts'])],
    ['b.ts', new Set(['a.ts'])],
  ])
  expect(violations([graph], ['a.ts'])).toEqual(['a circle: a.ts, b.ts'])
  expect(violations([graph], ['a.ts', 'b.ts'])).toEqual([])
  expect(violations([new Map()], ['a.ts'])).toEqual(['a.ts is in no circle any more: take it out of KNOWN'])
})

it('reads imports of types, and in C what one header declares for several modules', () => {
  expect(files.get('tools/checks/circles.ts')).toContain('tools/source-graph/graph.ts')
  expect(modules.get('native/mover/main')).toContain('native/mover/run')
  // helper.h declares what netns.c calls and nft_batch.c defines.
  expect(modules.get('native/src/netns')).toContain('native/src/nft_batch')
})
