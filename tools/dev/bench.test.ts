import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { ROWS_OF } from '../../bench/rows.ts'
import { benchmarksOf } from './bench.ts'
import { ROOT } from './verb.ts'

it('a name is that of a benchmark, of a row, or the beginning of several benchmarks', () => {
  expect(benchmarksOf(['l4'])).toEqual([{ program: 'l4', rows: [] }])
  expect(benchmarksOf(['planned-move', 'l4-connect', 'drain'])).toEqual([
    { program: 'failover-planned', rows: ['planned-move', 'drain'] },
    { program: 'l4', rows: ['l4-connect'] },
  ])
  expect(benchmarksOf(['member-change-l4'])).toEqual([{ program: 'member-change', rows: ['member-change-l4'] }])
  expect(benchmarksOf(['failover']).map(({ program }) => program)).toContain('failover-vrrp')
  expect(benchmarksOf(['l4-connect', 'l4'])).toEqual([{ program: 'l4', rows: [] }])
  expect(benchmarksOf([]).map(({ program }) => program)).toEqual(Object.keys(ROWS_OF))
})

it('a name that nothing has is refused, beside the nearest', () => {
  expect(() => benchmarksOf(['l4-conect'])).toThrow(
    /^there is no benchmark and no row "l4-conect"; the nearest is l4-connect\. There are: api-memory, /,
  )
})

it('every benchmark has its rows in one place, and the table of bench/README.md is that place', () => {
  const programs = globSync('bench/*.bench.ts', { cwd: ROOT }).map((file) => path.basename(file, '.bench.ts'))
  expect(Object.keys(ROWS_OF).sort()).toEqual(programs.sort())
  const rows = Object.values(ROWS_OF).flat()
  expect(new Set(rows).size).toBe(rows.length)
  const table = [...readFileSync(path.join(ROOT, 'bench/README.md'), 'utf8').matchAll(/^\| `([\w-]+)` \| ([^|]+) \|/gm)]
  const shown = table.map(([, program, cell = '']) => [
    program,
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, row]) => row),
  ])
  expect(Object.fromEntries(shown)).toEqual(ROWS_OF)
})
