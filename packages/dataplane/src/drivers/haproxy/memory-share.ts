import type { MemoryUse } from '@spout/sys'
import type { ShareSource } from '../../domain/shares/share-watch.ts'
import type { ProxyPlace } from './proxy-place.ts'

export interface MemoryShareOptions {
  readonly place: (domain: { readonly number: number }) => ProxyPlace
  /** What the control group of this name holds; null while there is none, or where nothing bounds it. */
  readonly memory: (name: string) => Promise<MemoryUse | null>
}

/** With so much of it, one crowd of clients more has the kernel end the proxy. */
const NEARLY_FULL = 0.95

/** Tells whose proxy has nearly all the memory that it may, and whose was ended for wanting more. */
export const memoryShare = ({ place, memory }: MemoryShareOptions): ShareSource => ({
  read: async (domain) => {
    const use = await memory(place({ number: domain }).name)
    if (use === null) return []
    const { usedBytes, limitBytes, oomKills } = use
    const isFull = usedBytes >= limitBytes * NEARLY_FULL
    return [{ share: 'memory', limit: limitBytes, used: usedBytes, refused: oomKills, ...(isFull && { isOver: true }) }]
  },
})
