import type { HttpRoute } from '@spout/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type RouteContent, routeOf } from './route-content.ts'
import { piecesOf, type RouteChange, routeChange, withRouteChange } from './route-difference.ts'

const POOLS = new Map([['p', 'web']])
const content = (name: string, code = 404): RouteContent => {
  const made = routeOf({ name, action: { type: 'respond', code } }, 'rules')
  if ('refusal' in made) throw new Error(made.refusal.message)
  return made.value
}
/** The document that the control plane would store. */
const stored = ({ name, conditions, action }: RouteContent, id = `id-${name}`): HttpRoute =>
  ({ id, name, description: '', tags: [], enabled: true, conditions, action, createdAt: '', updatedAt: null }) as never

const table = (names: readonly string[], code?: number) => names.map((name) => content(name, code))
const change = (before: readonly RouteContent[], after: readonly RouteContent[]) =>
  routeChange(
    'l',
    before.map((one) => stored(one)),
    after,
    POOLS,
  )

test('the same routes are no change', () => {
  expect(change(table(['a', 'b']), table(['a', 'b']))).toBeNull()
})

test('new routes stand before the next one that stays, changed ones keep their place, others are removed', () => {
  const [a, b, c, d] = table(['a', 'b', 'c', 'd'])
  expect(change([a!, b!, c!], [content('x'), a!, content('b', 503), d!, content('e')])).toEqual({
    listenerId: 'l',
    put: [{ ...content('x'), before: 'id-a' }, content('b', 503), d, content('e')],
    remove: ['id-c'],
  })
})

test('a route that moves stands before the next one that stays, changed or not', () => {
  expect(change(table(['a', 'b', 'c']), table(['c', 'a', 'b']))).toEqual({
    ...{ listenerId: 'l', put: [{ ...content('c'), before: 'id-a' }], remove: [] },
  })
  const [a, b, c] = table(['a', 'b', 'c'])
  expect(change([a!, b!, c!, ...table(['d', 'last'])], [b!, c!, content('a', 503), ...table(['d', 'last'])])).toEqual({
    ...{ listenerId: 'l', put: [{ ...content('a', 503), before: 'id-d' }], remove: [] },
  })
})

test('a move to the end, names that occur twice, and a route that somebody switched off, as a whole or one by one', () => {
  expect(change(table(['a', 'b', 'c']), table(['b', 'c', 'a']))).toBe('whole')
  expect(change(table(['a', 'b']), table(['b', 'b', 'a']))).toBe('whole')
  const off = { ...stored(content('a')), enabled: false }
  expect(routeChange('l', [off], table(['a']), POOLS)).toMatchObject({ put: table(['a']), remove: [] })
})

test('a few changes at any places of thousands are put alone', () => {
  const many = table(Array.from({ length: 3_000 }, (_, at) => `r${at}`))
  const wanted = many
    .toSpliced(2_990, 0, content('late'))
    .with(2_000, content('r2000', 503))
    .toSpliced(1_000, 2)
    .toSpliced(500, 0, content('x'), content('y'))
  const found = change(many, wanted)
  expect(found).toEqual({
    listenerId: 'l',
    put: [
      { ...content('x'), before: 'id-r500' },
      { ...content('y'), before: 'id-r500' },
      content('r2000', 503),
      { ...content('late'), before: 'id-r2990' },
    ],
    remove: ['id-r1000', 'id-r1001'],
  })
})

const after = (routes: readonly HttpRoute[], changes: readonly RouteChange[]) =>
  changes.reduce(
    (now, one) =>
      withRouteChange(
        now,
        one,
        one.put.map((route) => stored(route)),
      ),
    routes,
  )

test('thousands of changes of a long list are several requests, since its document may be too large for one', () => {
  const names = Array.from({ length: 6_000 }, (_, at) => `r${at}`)
  const before = table(names.filter((_, at) => at % 2 === 0)).map((one) => stored(one))
  const wanted = table(names.slice(1_000))
  const found = routeChange('l', before, wanted, POOLS)
  if (found === null || found === 'whole') throw new Error(`${found} is no change`)
  expect([found.put.length, found.remove.length]).toEqual([2_500, 500])
  const pieces = piecesOf(found)
  expect(pieces.map(({ put, remove }) => put.length + remove.length)).toEqual([500, 500, 500, 500, 500, 500])
  expect(after(before, pieces).map(({ name }) => name)).toEqual(wanted.map(({ name }) => name))
  expect(change(table(names.slice(0, 600)), table(names.slice(600, 1_200)))).toBe('whole')
})

test('a change leads to the wanted routes, whatever they were', () => {
  const names = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 })
  const routes = names.chain((all) =>
    fc.tuple(...all.map((name) => fc.constantFrom(404, 503).map((code) => content(name, code)))),
  )
  fc.assert(
    fc.property(routes, routes, (before, after) => {
      const now = before.map((one) => stored(one))
      const found = routeChange('l', now, after, POOLS)
      if (found === 'whole') return
      const answered = (found?.put ?? []).map((one) => stored(one))
      const next = found === null ? now : withRouteChange(now, found, answered)
      expect(next.map(({ name, action }) => [name, action])).toEqual(after.map(({ name, action }) => [name, action]))
    }),
  )
})
