import {
  goesByServerName,
  isProxied,
  type Listener,
  type LoadBalancer,
  type NodePool,
  type Pool,
  poolIdsOf,
  usedPoolIds,
} from '@spout/model'
import { type Problem, problem } from '../reason.ts'

/**
 * The pool protocols that a listener may use. Members of `tcp-proxy-v1` and `-v2` pools learn the client's address by
 * the PROXY protocol, from any proxied listener.
 */
const POOLS_OF: Readonly<Record<Listener['protocol'], readonly Pool['protocol'][]>> = {
  tcp: ['tcp'],
  udp: ['udp'],
  sctp: ['sctp'],
  http: ['http', 'tcp-proxy-v1', 'tcp-proxy-v2'],
  https: ['http', 'tcp-proxy-v1', 'tcp-proxy-v2'],
  'tcp-proxy': ['tcp', 'tcp-proxy', 'tcp-proxy-v1', 'tcp-proxy-v2'],
  tls: ['tcp', 'tcp-proxy', 'tcp-proxy-v1', 'tcp-proxy-v2'],
  'tls-passthrough': ['tcp', 'tcp-proxy', 'tcp-proxy-v1', 'tcp-proxy-v2'],
  metrics: [],
}

const modeOf = ({ protocol }: Listener): NodePool['mode'] => {
  if (!isProxied(protocol)) return 'l4'
  return protocol === 'tcp-proxy' || goesByServerName(protocol) ? 'tcp-proxy' : 'http'
}

/** How a pool is balanced. Its listeners determine that, or without a listener its protocol. */
export function poolMode(loadBalancer: Pick<LoadBalancer, 'listeners'>, pool: Pool): NodePool['mode'] {
  // Only HTTP listeners may use a pool of protocol `http`.
  if (pool.protocol === 'http') return 'http'
  const listener = loadBalancer.listeners.find((one) => usedPoolIds([one]).has(pool.id))
  if (listener !== undefined) return modeOf(listener)
  if (pool.protocol === 'tcp' || pool.protocol === 'udp' || pool.protocol === 'sctp') return 'l4'
  return 'tcp-proxy'
}

/** Invalid references from listeners to pools. */
export function* poolReferenceProblems(loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>): Generator<Problem> {
  const pools = new Map(loadBalancer.pools.map((pool) => [pool.id, pool]))
  const firstUser = new Map<string, Listener>()
  const fits = (listener: Listener, pool: Pool | undefined): boolean =>
    pool !== undefined && POOLS_OF[listener.protocol].includes(pool.protocol)
  for (const [index, listener] of loadBalancer.listeners.entries()) {
    const used = usedPoolIds([listener])
    // Pools are checked in the listener's order only if one is wrong, because that order takes a walk over all routes.
    for (const id of used.values().every((one) => fits(listener, pools.get(one))) ? used : poolIdsOf(listener)) {
      const pool = pools.get(id)
      const place = (): { readonly field: string } => ({ field: `listeners[${index}].${placeOf(listener, id)}` })
      if (pool === undefined) {
        yield problem('ReferenceNotFound', { ...place(), what: 'pool', id })
        continue
      }
      if (!fits(listener, pool))
        yield problem('InvalidField', {
          ...place(),
          reason: `a listener of protocol ${listener.protocol} cannot use pool ${pool.id} of protocol ${pool.protocol}`,
        })
      if (listener.protocol === 'tls-passthrough' && pool.tls !== undefined)
        yield problem('InvalidField', {
          ...place(),
          reason: `pool ${pool.id} speaks TLS with its members, which get the client's own TLS from a listener of protocol tls-passthrough`,
        })
      const user = firstUser.get(pool.id)
      // A pool is balanced in one way only: the packet path's slots and a proxy would choose different members.
      if (user !== undefined && modeOf(user) !== modeOf(listener))
        yield problem('Unsupported', {
          ...place(),
          reason: `pool ${pool.id} is balanced as listener ${user.id} of protocol ${user.protocol} needs; a listener of protocol ${listener.protocol} needs a pool of its own`,
        })
      firstUser.set(pool.id, user ?? listener)
    }
  }
}

/** Where a listener names a pool first. */
function placeOf({ defaultPoolId, routes }: Listener, id: string): string {
  if (defaultPoolId === id) return 'defaultPoolId'
  for (const [at, { action }] of routes.entries()) {
    const place = action.type === 'forward' ? action.pools.findIndex(({ poolId }) => poolId === id) : -1
    if (place >= 0) return `routes[${at}].action.pools[${place}].poolId`
    const mirror = action.type === 'forward' ? (action.mirrors ?? []).findIndex(({ poolId }) => poolId === id) : -1
    if (mirror >= 0) return `routes[${at}].action.mirrors[${mirror}].poolId`
    if (action.type === 'forward' && action.authorizer?.poolId === id) return `routes[${at}].action.authorizer.poolId`
  }
  return 'routes'
}
