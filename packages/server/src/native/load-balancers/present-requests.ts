import type { LoadBalancer } from '@spout/model'
import { OTHER_ROUTES, type RequestParts } from '@spout/model/node-report'
import type { NativeContext } from '../operations/context.ts'

/** The nodes' counts of a load balancer's requests, by listener id, for pools and routes that it still has. */
export function presentRequests(
  { status }: Pick<NativeContext, 'status'>,
  { id, listeners, pools }: LoadBalancer,
): Readonly<Record<string, RequestParts>> {
  const counted = status.requests(id)
  const poolIds = new Set(pools.map((pool) => pool.id))
  return Object.fromEntries(
    listeners.flatMap((listener) => {
      const parts = counted.get(listener.id)
      if (parts === undefined) return []
      const routeIds = new Set([OTHER_ROUTES, ...listener.routes.map((route) => route.id)])
      return [[listener.id, { pools: only(parts.pools, poolIds), routes: only(parts.routes, routeIds) }] as const]
    }),
  )
}

const only = <T>(all: Readonly<Record<string, T>>, wanted: ReadonlySet<string>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(all).filter(([id]) => wanted.has(id)))
