import type { ShareSource, ShareUse } from '../../domain/shares/share-watch.ts'
import { ownerIn, type ProxyPlace } from './proxy-place.ts'

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
  /** Where a domain's proxies run. */
  readonly places: (domain: number) => readonly ProxyPlace[]
  /** The copies of a domain's shared proxy, or of a load balancer's own; null if there is none. */
  readonly mirrors: (domain: number, loadBalancerId?: string) => Promise<ProxyMirrors | null>
}

/**
 * Counts copies that were not made, for the node's figures. No network is over its share for that, since its clients
 * lack nothing.
 */
export const mirrorShare = ({ places, mirrors }: MirrorShareOptions): ShareSource => ({
  read: async (domain) => {
    const uses = places(domain).map(async (place): Promise<readonly ShareUse[]> => {
      const now = await mirrors(domain, place.dedicated?.loadBalancerId)
      if (now === null) return []
      const { current: used, most: limit, notMade: refused } = now
      return [{ share: 'mirrors', ...ownerIn(place), limit, used, refused, isOver: false }]
    })
    return (await Promise.all(uses)).flat()
  },
})
