import type { MemoryUse } from '@spout/sys'
import type { ShareSource } from '../../domain/shares/share-watch.ts'
import type { ProxyPlace } from './proxy-place.ts'

export interface MemoryShareOptions {
  readonly place: (domain: { readonly number: number }) => ProxyPlace
  /** The memory of this control group; null if the group does not exist or has no limit. */
  readonly memory: (name: string) => Promise<MemoryUse | null>
}

/** At this fill a burst of clients can make the kernel kill the proxy. */
const NEARLY_FULL = 0.95

/** Tells which proxies use nearly all of their memory, or were killed for exceeding it. */
export const memoryShare = ({ place, memory }: MemoryShareOptions): ShareSource => ({
  read: async (domain) => {
    const use = await memory(place({ number: domain }).name)
    if (use === null) return []
    const { usedBytes, limitBytes, oomKills } = use
    const isFull = usedBytes >= limitBytes * NEARLY_FULL
    return [{ share: 'memory', limit: limitBytes, used: usedBytes, refused: oomKills, ...(isFull && { isOver: true }) }]
  },
})
