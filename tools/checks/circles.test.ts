import path from 'node:path'
import { expect, it } from 'vitest'
import { cModules } from '../source-graph/c-modules.ts'
import { typescriptImports } from '../source-graph/typescript-imports.ts'
import { circlesIn, circlesOfRepository, modulesWithCode } from './circles.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

it('no file imports itself through others', () => expect(circlesOfRepository(ROOT)).toEqual([]))

it('a circle is named with all its files', () => {
  const graph = new Map([
    ['a.ts', new Set(['b.ts'])],
    ['b.ts', new Set(['c.ts'])],
    ['c.ts', new Set(['a.ts'])],
    ['d.ts', new Set(['a.ts'])],
  ])
  expect(circlesIn([graph])).toEqual(['a circle: a.ts, b.ts, c.ts'])
  expect(circlesIn([new Map()])).toEqual([])
})

it('reads type imports, and in C a header that declares functions of several modules', () => {
  expect(typescriptImports(ROOT).get('tools/checks/circles.ts')).toContain('tools/source-graph/graph.ts')
  const modules = cModules(ROOT)
  expect(modules.get('native/mover/main')).toContain('native/mover/run')
  expect(modules.get('native/helper/netfilter/conntrack_services')).toContain('native/net/ctnetlink')
  expect(modulesWithCode(ROOT).has('native/helper/loop/helper')).toBe(false)
})
