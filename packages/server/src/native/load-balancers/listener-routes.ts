import { type HttpRoute, httpRoute, type Listener, type LoadBalancer, SpoutError, uuid } from '@spout/model'
import { Parts } from '../drafts/parts.ts'
import { routeDraft } from '../drafts/route-draft.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Call, type Route, route } from '../operations/route.ts'
import { LISTENERS, partOf, putPart, withoutPrefix } from './load-balancer-parts.ts'

const tag = 'load-balancers'
const root = '/load-balancers/:id/listeners/:part/routes'

export const placedRoute = routeDraft.extend({
  /** The route that it stands before. Absent: it keeps its place, and a new one is the last. */
  before: uuid.optional(),
})

/** Routes of a listener, one by one. The cost depends on the change, not on the number of routes. */
export const listenerRouteRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: root,
    tag,
    summary: 'Add a route to a listener, before another one or as the last',
    access: 'member',
    body: placedRoute,
    answer: { status: 201, schema: httpRoute },
    previews: true,
    handle: async (context, call) => {
      const { before, ...draft } = call.body
      let id = ''
      const listener = await changeRoutes(context, call, ({ routes }, { pools }, parts) => {
        const made = parts.route(draft, undefined, pools, '')
        id = made.id
        return put(routes, made, before ?? null)
      })
      return partOf(listener.routes, id, 'Route')
    },
  }),
  route({
    method: 'PUT',
    path: `${root}/:route`,
    tag,
    summary: 'Replace a route of a listener, and move it before another one',
    access: 'member',
    body: placedRoute,
    answer: { status: 200, schema: httpRoute },
    previews: true,
    handle: async (context, call) => {
      const { before, ...draft } = call.body
      const listener = await changeRoutes(context, call, ({ routes }, { pools }, parts) => {
        const known = partOf(routes, call.params.route, 'Route')
        const at = routes.indexOf(known)
        const made = parts.route({ ...draft, id: known.id }, known, pools, '')
        return before === undefined || before === known.id
          ? { routes: routes.with(at, made), at }
          : put(routes.toSpliced(at, 1), made, before)
      })
      return partOf(listener.routes, call.params.route, 'Route')
    },
  }),
  route({
    method: 'DELETE',
    path: `${root}/:route`,
    tag,
    summary: 'Remove a route of a listener',
    access: 'member',
    body: null,
    answer: { status: 204, schema: null },
    previews: true,
    handle: async (context, call) => {
      await changeRoutes(context, call, ({ routes }) => {
        const at = routes.indexOf(partOf(routes, call.params.route, 'Route'))
        return { routes: routes.toSpliced(at, 1), at }
      })
    },
  }),
]

/** The routes with a change to the one at this place. */
interface Changed {
  readonly routes: HttpRoute[]
  readonly at: number
}

/** Changes the routes of a listener. Fields of errors are paths in the route. */
async function changeRoutes(
  context: NativeContext,
  call: Call<unknown>,
  change: (listener: Listener, current: LoadBalancer, parts: Parts) => Changed,
): Promise<Listener> {
  const now = context.clock.now().toISOString()
  let place = 0
  try {
    const changed = await putPart(LISTENERS, context, call, (current) => {
      const known = partOf(current.listeners, call.params.part, 'Listener')
      const { routes, at } = change(known, current, new Parts(current, now))
      place = at
      return { ...known, routes }
    })
    return partOf(changed.listeners, call.params.part, 'Listener')
  } catch (error) {
    throw withoutPrefix(error, `routes[${place}].`)
  }
}

/**
 * @param before the id of the route that it stands before; null: it is the last. @throws SpoutError ReferenceNotFound
 */
function put(routes: readonly HttpRoute[], made: HttpRoute, before: string | null): Changed {
  const at = before === null ? routes.length : routes.findIndex(({ id }) => id === before)
  if (at < 0) throw new SpoutError('ReferenceNotFound', { field: 'before', what: 'Route', id: before ?? '' })
  return { routes: routes.toSpliced(at, 0, made), at }
}
