import { expect, it } from 'vitest'
import { byName } from '../api/rows-by-name.ts'
import { row } from '../testing/rows.ts'
import { patchedRows } from './patched-rows.ts'

it('puts changed rows in their place, new and renamed ones where their names belong, and leaves out those that are gone', () => {
  const [a, b, c, e] = [row('a'), row('b'), row('c'), row('e')]
  const failed = row('b', { health: 'failed' })
  const changed = new Map([
    ['b', failed],
    ['a', null],
    ['d', row('d')],
    ['c', row('c', { name: 'web-10' })],
    ['w', row('w', { name: 'web-9' })],
    ['never-seen', null],
  ])
  const rows = patchedRows(byName([a, b, c, e]), changed, null)
  expect(rows.map(({ name }) => name)).toEqual(['b', 'd', 'e', 'web-9', 'web-10'])
  expect(rows[0]).toBe(failed)
  expect(rows[2]).toBe(e)
})

it('keeps the order that a new sort would give, whatever changes', () => {
  const names = ['web', 'web-2', 'web-10', 'Web', 'api', 'ärger', 'موازن', '', 'web-2']
  let rows = byName([])
  for (let round = 0; round < 200; round++) {
    const changed = new Map(
      [1, 7, 11].map((step) => {
        const id = `id-${(round * step) % 23}`
        return [id, round % 5 === step % 5 ? null : row(id, { name: names[(round + step) % names.length] ?? '' })]
      }),
    )
    rows = patchedRows(rows, changed, null)
    expect(rows).toEqual(byName(rows))
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  }
})

it('adds no row of another project than the table shows', () => {
  const changed = new Map([['x', row('x', { projectId: 'p2' })]])
  expect(patchedRows([], changed, 'p1')).toEqual([])
  expect(patchedRows([], changed, 'p2')).toHaveLength(1)
})
