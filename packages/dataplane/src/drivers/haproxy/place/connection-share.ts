import type { ShareSource } from '../../../domain/shares/share-watch.ts'
import { type ProxyPlaces, proxyShare } from './proxy-share.ts'

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
  readonly places: ProxyPlaces
  /** The connections of a domain's shared proxy, or of a load balancer's own; null if there is none. */
  readonly connections: (domain: number, loadBalancerId?: string) => Promise<ProxyConnections | null>
}

/**
 * Tells which proxies have as many connections as they may. Connections that are refused because one source has too
 * many (`sourceRules`) do not count for the tenant.
 */
export const connectionShare = ({ places, connections }: ConnectionShareOptions): ShareSource =>
  proxyShare(places, async ({ dedicated }, domain) => {
    const now = await connections(domain, dedicated?.loadBalancerId)
    if (now === null) return null
    const { current: used, most: limit, dropped: refused } = now
    // The queue also overflows if a proxy gets too little processor time, which is another share.
    return { share: 'connections', limit, used, refused, isOver: used >= limit }
  })
