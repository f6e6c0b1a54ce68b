import type { ShareSource } from '../../domain/shares/share-watch.ts'

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

/**
 * Tells which proxies have as many connections as they may. Connections that are refused because one source has too
 * many (`sourceRules`) do not count for the tenant.
 * @param connections of a domain's proxy; null if there is none
 */
export const connectionShare = (connections: (domain: number) => Promise<ProxyConnections | null>): ShareSource => ({
  read: async (domain) => {
    const now = await connections(domain)
    if (now === null) return []
    const { current, most, dropped } = now
    // The queue also overflows if a proxy gets too little processor time, which is another share.
    return [{ share: 'connections', limit: most, used: current, refused: dropped, isOver: current >= most }]
  },
})
