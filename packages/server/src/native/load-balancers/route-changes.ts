import {
  type HttpRoute,
  httpRoute,
  type LoadBalancer,
  listener,
  loadBalancer,
  MOST_ROUTES,
  SpoutError,
  uuid,
} from '@spout/model'
import { z } from 'zod'
import { Parts } from '../drafts/parts.ts'
import { type Route, route } from '../operations/route.ts'
import { ChangingRoutes, routesWith } from './changing-routes.ts'
import { placedRoute } from './listener-routes.ts'
import { LISTENERS, partOf, putPart } from './load-balancer-parts.ts'

const body = z.strictObject({
  /** In this order. A route with the id or the name of an existing one replaces it in its place; others are new. */
  put: z.array(placedRoute).max(MOST_ROUTES).default([]),
  /** Ids. Those that are not there are no error. */
  remove: z.array(uuid).max(MOST_ROUTES).default([]),
})

/** Changes routes of a listener in one version. The cost depends on the changes, not on the number of routes. */
export const routeChangeRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/load-balancers/:id/listeners/:part/route-changes',
    tag: 'load-balancers',
    summary: 'Put and remove routes of a listener; the others stay as they are',
    access: 'member',
    body,
    takesDocument: true,
    answer: {
      status: 200,
      schema: z.strictObject({
        generation: loadBalancer.shape.generation,
        updatedAt: loadBalancer.shape.updatedAt,
        listenerId: listener.shape.id,
        put: z.array(httpRoute),
      }),
    },
    previews: true,
    handle: async (context, call) => {
      const now = context.clock.now().toISOString()
      let made: Changed = { routes: [], put: [] }
      const changed = await putPart(LISTENERS, context, call, (current) => {
        const known = partOf(current.listeners, call.params.part, 'Listener')
        made = changedRoutes(known.routes, call.body, current, new Parts(current, now))
        return { ...known, routes: made.routes }
      }).catch((error: unknown) => {
        throw ofPut(error, made)
      })
      const { id, routes } = partOf(changed.listeners, call.params.part, 'Listener')
      const { generation, updatedAt } = changed
      return { generation, updatedAt, listenerId: id, put: routesWith(routes, made.put) }
    },
  }),
]

/** The routes, and the ids of those that were put. */
interface Changed {
  readonly routes: HttpRoute[]
  readonly put: readonly string[]
}

/** The same error, with the field's name in the caller's request. */
function ofPut(error: unknown, { routes, put }: Changed): unknown {
  const [prefix = '', place = ''] = /^routes\[(\d+)\]/.exec((error instanceof SpoutError && error.field) || '') ?? []
  const at = put.indexOf(routes[Number(place)]?.id ?? '')
  if (!(error instanceof SpoutError) || prefix === '' || at < 0) return error
  const field = `put[${at}]${error.field?.slice(prefix.length)}`
  return new SpoutError(error.code, { ...error.params, field }, { cause: error })
}

function changedRoutes(
  before: readonly HttpRoute[],
  { put, remove }: z.output<typeof body>,
  { pools }: LoadBalancer,
  parts: Parts,
): Changed {
  const routes = new ChangingRoutes(before, remove)
  const made: string[] = []
  for (const [at, { before: next, ...draft }] of put.entries()) {
    const place = draft.id === undefined ? routes.placeOfName(draft.name) : routes.placeOf(draft.id)
    const one = parts.route(draft, routes.all[place], pools, `put[${at}].`)
    made.push(one.id)
    if (place >= 0 && (next === undefined || next === one.id)) {
      routes.replace(place, one)
      continue
    }
    if (place >= 0) routes.remove(place)
    const to = next === undefined ? routes.all.length : routes.placeOf(next)
    if (to < 0) throw new SpoutError('ReferenceNotFound', { field: `put[${at}].before`, what: 'Route', id: next ?? '' })
    routes.insert(to, one)
  }
  return { routes: routes.all, put: made }
}
