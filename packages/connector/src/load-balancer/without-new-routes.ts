import type { LoadBalancer } from '@spout/model'
import type { LoadBalancerContent } from '../content/content.ts'
import { poolNamesOf } from '../content/route-content.ts'

/**
 * The UID of the object that a route was made of: the first part of the route's name. Routes that every listener has,
 * such as the last one, have another word there.
 */
const ownerOf = ({ name }: { readonly name: string }): string => name.split('/', 1)[0] ?? ''

/**
 * The content without the routes of objects that have no route in the document yet, and without pools that only these
 * need. When all routes together exceed the project's quota, existing routes can thus still change and be removed.
 *
 * @returns the content, and the UIDs of the objects whose routes are left out
 */
export function withoutNewRoutes(
  content: LoadBalancerContent,
  document: LoadBalancer,
): { readonly content: LoadBalancerContent; readonly owners: ReadonlySet<string> } {
  const known = new Set(document.listeners.flatMap(({ routes }) => routes.map(ownerOf)))
  const listeners = content.listeners.map((listener) =>
    listener.routes === undefined
      ? listener
      : { ...listener, routes: listener.routes.filter((route) => known.has(ownerOf(route))) },
  )
  const left = content.listeners.flatMap(({ routes = [] }, at) => {
    const stays = new Set(listeners[at]?.routes)
    return routes.filter((route) => !stays.has(route))
  })
  const used = new Set(listeners.flatMap(({ routes = [] }) => routes.flatMap(poolNamesOf)))
  const gone = new Set(left.flatMap(poolNamesOf).filter((pool) => !used.has(pool)))
  return {
    content: { ...content, listeners, pools: content.pools.filter(({ name }) => !gone.has(name)) },
    owners: new Set(left.map(ownerOf)),
  }
}
