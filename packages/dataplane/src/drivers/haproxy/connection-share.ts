import type { ShareSource, ShareUse } from '../../domain/shares/share-watch.ts'
import { ownerIn, type ProxyPlace } from './proxy-place.ts'

/** The connections of a proxy. */
export interface ProxyConnections {
  readonly current: number
  /** Maximum of concurrent connections. */
  readonly most: number
  /**
   * Connections that the kernel dropped because its accept queue was full. Never decreases while the namespace exists.
   */
  readonly dropped: number
}

export interface ConnectionShareOptions {
  /** Where a domain's proxies run. */
  readonly places: (domain: number) => readonly ProxyPlace[]
  /** The connections of a domain's shared proxy, or of a load balancer's own; null if there is none. */
  readonly connections: (domain: number, loadBalancerId?: string) => Promise<ProxyConnections | null>
}

/**
 * Tells which proxies have as many connections as they may. Connections that are refused because one source has too
 * many (`sourceRules`) do not count for the tenant.
 */
export const connectionShare = ({ places, connections }: ConnectionShareOptions): ShareSource => ({
  read: async (domain) => {
    const uses = places(domain).map(async (place): Promise<readonly ShareUse[]> => {
      const now = await connections(domain, place.dedicated?.loadBalancerId)
      if (now === null) return []
      const { current: used, most: limit, dropped: refused } = now
      // The queue also overflows if a proxy gets too little processor time, which is another share.
      return [{ share: 'connections', ...ownerIn(place), limit, used, refused, isOver: used >= limit }]
    })
    return (await Promise.all(uses)).flat()
  },
})
