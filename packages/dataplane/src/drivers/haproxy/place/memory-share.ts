import type { MemoryUse } from '@spout/sys'
import type { ShareSource } from '../../../domain/shares/share-watch.ts'
import { type ProxyPlaces, proxyShare } from './proxy-share.ts'

export interface MemoryShareOptions {
  readonly places: ProxyPlaces
  /** The memory of this control group; null if the group does not exist or has no limit. */
  readonly memory: (name: string) => Promise<MemoryUse | null>
}

/** At this fill a burst of clients can make the kernel kill the proxy. */
const NEARLY_FULL = 0.95

/** Tells which proxies use nearly all of their memory, or were killed for exceeding it. */
export const memoryShare = ({ places, memory }: MemoryShareOptions): ShareSource =>
  proxyShare(places, async ({ name }) => {
    const use = await memory(name)
    if (use === null) return null
    const { usedBytes: used, limitBytes: limit, oomKills: refused } = use
    const isFull = used >= limit * NEARLY_FULL
    return { share: 'memory', limit, used, refused, ...(isFull && { isOver: true }) }
  })
