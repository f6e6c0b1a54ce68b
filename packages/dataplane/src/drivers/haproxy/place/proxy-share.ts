import type { ShareSource, ShareUse } from '../../../domain/shares/share-watch.ts'
import { ownerIn, type ProxyPlace } from './proxy-place.ts'

/** Where a domain's proxies run. */
export type ProxyPlaces = (domain: number) => readonly ProxyPlace[]

/** The use of a share by one proxy. Whose it is follows from the proxy's place. */
export type ProxyUse = Omit<ShareUse, 'loadBalancerId'>

/**
 * A share that each proxy of a domain has separately.
 * @param useOf null for a proxy that does not run, or has no limit
 */
export const proxyShare = (
  places: ProxyPlaces,
  useOf: (place: ProxyPlace, domain: number) => Promise<ProxyUse | null>,
): ShareSource => ({
  read: async (domain) => {
    const uses = places(domain).map(async (place): Promise<readonly ShareUse[]> => {
      const use = await useOf(place, domain)
      return use === null ? [] : [{ ...use, ...ownerIn(place) }]
    })
    return (await Promise.all(uses)).flat()
  },
})
