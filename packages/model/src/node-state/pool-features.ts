/** The fields of a pool by which it needs something of drivers, as nodes get them (`NodePool`). */
export interface FeaturedPool {
  readonly refusedPercent?: number | undefined
  readonly clientNetworks?: object | undefined
  readonly proxyProtocol: 'none' | 'v1' | 'v2'
  readonly session?: { readonly by: string; readonly cookie?: object | undefined } | undefined
  readonly http2?: true | undefined
  readonly tls?: { readonly ciphers?: unknown; readonly revocations?: unknown } | undefined
}

interface PoolFeature {
  readonly name: string
  /** Whose feature it is: the driver of the packet path, or that of proxied listeners. */
  readonly of: 'packet path' | 'proxy'
  readonly isNeeded: (pool: FeaturedPool) => boolean
}

/**
 * What pools can need of drivers. The planner asks it of nodes, and a node chooses its drivers by it. A new option of a
 * pool that older nodes lack is a row.
 */
const POOL_FEATURES: readonly PoolFeature[] = [
  { name: 'l4.client-networks', of: 'packet path', isNeeded: ({ clientNetworks }) => clientNetworks !== undefined },
  { name: 'l4.refused-shares', of: 'packet path', isNeeded: ({ refusedPercent }) => refusedPercent !== undefined },
  { name: 'l7.application-cookies', of: 'proxy', isNeeded: ({ session }) => session?.by === 'application-cookie' },
  { name: 'l7.cookies', of: 'proxy', isNeeded: ({ session }) => session?.by === 'cookie' },
  { name: 'l7.cookies.attributes', of: 'proxy', isNeeded: ({ session }) => session?.cookie !== undefined },
  { name: 'l7.pool-h2c', of: 'proxy', isNeeded: ({ http2 }) => http2 === true },
  { name: 'l7.pool-tls', of: 'proxy', isNeeded: ({ tls }) => tls !== undefined },
  { name: 'l7.pool-tls.crl', of: 'proxy', isNeeded: ({ tls }) => tls?.revocations !== undefined },
  { name: 'l7.proxy-protocol', of: 'proxy', isNeeded: ({ proxyProtocol }) => proxyProtocol !== 'none' },
  { name: 'l7.tls-ciphers', of: 'proxy', isNeeded: ({ tls }) => tls?.ciphers !== undefined },
]

/** Features that a pool needs. @param of whose; left out: all */
export const featuresOfPool = (pool: FeaturedPool, of?: PoolFeature['of']): readonly string[] =>
  POOL_FEATURES.filter((feature) => (of === undefined || feature.of === of) && feature.isNeeded(pool)).map(
    ({ name }) => name,
  )
