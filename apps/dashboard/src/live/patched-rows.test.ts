import { expect, it } from 'vitest'
import { row } from '../testing/rows.ts'
import { patchedRows } from './patched-rows.ts'

it('puts changed rows in their place, new ones at the end, and leaves out those that are gone', () => {
  const [a, b, c] = [row('a'), row('b'), row('c')]
  const failed = row('b', { health: 'failed' })
  const changed = new Map([
    ['b', failed],
    ['a', null],
    ['d', row('d')],
    ['never-seen', null],
  ])
  const rows = patchedRows([a, b, c], changed, null)
  expect(rows.map(({ id }) => id)).toEqual(['b', 'c', 'd'])
  expect(rows[0]).toBe(failed)
  expect(rows[1]).toBe(c)
})

it('adds no row of another project than the table shows', () => {
  const changed = new Map([['x', row('x', { projectId: 'p2' })]])
  expect(patchedRows([], changed, 'p1')).toEqual([])
  expect(patchedRows([], changed, 'p2')).toHaveLength(1)
})
