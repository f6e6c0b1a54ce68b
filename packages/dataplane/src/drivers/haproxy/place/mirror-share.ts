import type { ShareSource } from '../../../domain/shares/share-watch.ts'
import { type ProxyPlaces, proxyShare } from './proxy-share.ts'

/** Copies of requests for mirrors, of one proxy. */
export interface ProxyMirrors {
  /** Copies under way. */
  readonly current: number
  /** Maximum of these. */
  readonly most: number
  /** Copies that were not made since the process started: too many were under way, or the request could not be copied. */
  readonly notMade: number
}

export interface MirrorShareOptions {
  readonly places: ProxyPlaces
  /** The copies of a domain's shared proxy, or of a load balancer's own; null if there is none. */
  readonly mirrors: (domain: number, loadBalancerId?: string) => Promise<ProxyMirrors | null>
}

/**
 * Counts copies that were not made, for the node's figures. No network is over its share for that, since its clients
 * lack nothing.
 */
export const mirrorShare = ({ places, mirrors }: MirrorShareOptions): ShareSource =>
  proxyShare(places, async ({ dedicated }, domain) => {
    const now = await mirrors(domain, dedicated?.loadBalancerId)
    if (now === null) return null
    const { current: used, most: limit, notMade: refused } = now
    return { share: 'mirrors', limit, used, refused, isOver: false }
  })
