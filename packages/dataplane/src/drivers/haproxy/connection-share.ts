import type { ShareSource } from '../../domain/shares/share-watch.ts'

/** How a proxy stands with its connections. */
export interface ProxyConnections {
  readonly current: number
  /** It takes no more than so many at a time. */
  readonly most: number
  /** Those that were dropped since even the kernel's queue of waiting ones was full; never less while the namespace lives. */
  readonly dropped: number
}

/**
 * Tells whose proxy has as many connections as it may. A source that was turned away since it has its own part of them
 * (`sourceRules`) is no business of the tenant.
 * @param connections of a domain's proxy; null while there is none
 */
export const connectionShare = (connections: (domain: number) => Promise<ProxyConnections | null>): ShareSource => ({
  read: async (domain) => {
    const now = await connections(domain)
    if (now === null) return []
    const { current, most, dropped } = now
    // The queue overflows too where a proxy is held up: that is another share.
    return [{ share: 'connections', limit: most, used: current, refused: dropped, isOver: current >= most }]
  },
})
