import type { MemoryUse } from '@spout/sys'
import type { ShareSource, ShareUse } from '../../domain/shares/share-watch.ts'
import { ownerIn, type ProxyPlace } from './proxy-place.ts'

export interface MemoryShareOptions {
  /** Where a domain's proxies run. */
  readonly places: (domain: number) => readonly ProxyPlace[]
  /** The memory of this control group; null if the group does not exist or has no limit. */
  readonly memory: (name: string) => Promise<MemoryUse | null>
}

/** At this fill a burst of clients can make the kernel kill the proxy. */
const NEARLY_FULL = 0.95

/** Tells which proxies use nearly all of their memory, or were killed for exceeding it. */
export const memoryShare = ({ places, memory }: MemoryShareOptions): ShareSource => ({
  read: async (domain) => {
    const uses = places(domain).map(async (place): Promise<readonly ShareUse[]> => {
      const use = await memory(place.name)
      if (use === null) return []
      const { usedBytes: used, limitBytes: limit, oomKills: refused } = use
      const isFull = used >= limit * NEARLY_FULL
      return [{ share: 'memory', ...ownerIn(place), limit, used, refused, ...(isFull && { isOver: true }) }]
    })
    return (await Promise.all(uses)).flat()
  },
})
