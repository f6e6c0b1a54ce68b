import type { HttpRoute } from '@spout/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChangingRoutes, routesWith } from './changing-routes.ts'

/** Only what a look-up reads. */
const route = (id: string, name: string): HttpRoute => ({ id, name }) as unknown as HttpRoute
const shown = (routes: readonly HttpRoute[]) => routes.map(({ id, name }) => `${id}=${name}`)

const ids = Array.from({ length: 90 }, (_, n) => `r${n}`)
const anId = fc.constantFrom(...ids)
const aName = fc.constantFrom('', 'x', 'y', 'z', 'n1', 'n2', 'n3', 'n88')
const put = fc.record({ by: fc.constantFrom('id', 'name'), id: anId, name: aName, before: fc.option(anId) })
const request = fc.record({ remove: fc.array(anId, { maxLength: 4 }), put: fc.array(put, { maxLength: 6 }) })
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never

/** What a request means, with a walk over all routes for each look-up. */
function plainly(before: readonly HttpRoute[], { remove, put: puts }: Request, made: () => string) {
  const routes = before.filter(({ id }) => !remove.includes(id))
  for (const { by, id, name, before: next } of puts) {
    const place = routes.findIndex((one) => (by === 'id' ? one.id === id : name !== '' && one.name === name))
    const one = route(routes[place]?.id ?? made(), name)
    if (place >= 0 && next === null) {
      routes[place] = one
      continue
    }
    if (place >= 0) routes.splice(place, 1)
    const to = next === null ? -1 : routes.findIndex((other) => other.id === next)
    routes.splice(to < 0 ? routes.length : to, 0, one)
  }
  return routes
}

function quickly(before: readonly HttpRoute[], { remove, put: puts }: Request, made: () => string) {
  const routes = new ChangingRoutes(before, remove)
  for (const { by, id, name, before: next } of puts) {
    const place = by === 'id' ? routes.placeOf(id) : routes.placeOfName(name)
    const one = route(routes.all[place]?.id ?? made(), name)
    if (place >= 0 && next === null) {
      routes.replace(place, one)
      continue
    }
    if (place >= 0) routes.remove(place)
    const to = next === null ? -1 : routes.placeOf(next)
    routes.insert(to < 0 ? routes.all.length : to, one)
  }
  return routes.all
}

test('routes are found as a walk over all of them finds them, request after request', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 4 }), (requests) => {
      let routes: readonly HttpRoute[] = Object.freeze(ids.map((id, n) => route(id, `n${n}`)))
      const numbering = () => {
        let next = 0
        return () => `new${next++}`
      }
      const [first, second] = [numbering(), numbering()]
      for (const one of requests) {
        const expected = plainly(routes, one, first)
        const changed = quickly(routes, one, second)
        expect(shown(changed)).toEqual(shown(expected))
        routes = Object.freeze(changed)
        const some = ['r3', 'new0', 'r70', 'none', 'r4']
        expect(routesWith(routes, some)).toEqual(routes.filter(({ id }) => some.includes(id)))
      }
    }),
  )
})
