import type { LoadBalancerContent } from '@spout/connector'
import type { LoadBalancer } from '@spout/model'

/** The object that a route is made of, or what stands for it in routes that every listener has: names begin with it. */
const ownerOf = ({ name }: { readonly name: string }): string => name.split('/', 1)[0] ?? ''

/**
 * The content without the routes of objects of which the document has none, and without pools that only these need.
 * Where all routes together are more than the project may have, the others go on to change and to go.
 */
export function withoutNewRoutes(content: LoadBalancerContent, document: LoadBalancer): LoadBalancerContent {
  const known = new Set(document.listeners.flatMap(({ routes }) => routes.map(ownerOf)))
  const listeners = content.listeners.map((listener) =>
    listener.routes === undefined
      ? listener
      : { ...listener, routes: listener.routes.filter((route) => known.has(ownerOf(route))) },
  )
  const left = content.listeners.flatMap(({ routes = [] }, at) => {
    const stays = new Set(listeners[at]?.routes)
    return routes.filter((route) => !stays.has(route)).flatMap(poolsOf)
  })
  const used = new Set(listeners.flatMap(({ routes = [] }) => routes.flatMap(poolsOf)))
  const gone = new Set(left.filter((pool) => !used.has(pool)))
  return { ...content, listeners, pools: content.pools.filter(({ name }) => !gone.has(name)) }
}

const poolsOf = ({ action }: NonNullable<LoadBalancerContent['listeners'][number]['routes']>[number]) =>
  action.type === 'forward' ? [...action.pools, ...(action.mirrors ?? [])].map(({ pool }) => pool) : []
