/** Stick tables of the process: its connections by source, and in total. No slot has these names. */
const SOURCES = 'sources'
const ALL = 'all'

/** How long a source without connections is remembered. */
const FORGET_AFTER = '10s'

export interface SourceBounds {
  /** Maximum of concurrent connections of the process. */
  readonly maxConnections: number
  /** Maximum part of them for one source: above 0, and 1 for all of them. */
  readonly sourceShare: number
}

/** The part that one source may have at a given fill of the process. Each is a part of the one before. */
const TIERS = [
  { takenShare: 0, part: 1 },
  { takenShare: 1 / 2, part: 1 / 4 },
  { takenShare: 3 / 4, part: 1 / 32 },
] as const

/**
 * Rules for each new connection. The fuller the process, the fewer connections one source may have. A proxy or CDN in
 * front may use half of an idle process, but a few sources together never take the last quarter, which is left for many
 * others. Requests on existing connections are not checked. The source of an IPv6 client is its /64, which is what one
 * subscriber has (RFC 6177).
 *
 * The rules are in each frontend, since HAProxy 2.6 accepts `track-sc` in a defaults section but counts nothing there.
 */
export function sourceRules({ maxConnections, sourceShare }: SourceBounds): readonly string[] {
  if (sourceShare >= 1) return []
  const full = TIERS.map(({ takenShare, part }) => {
    const mine = Math.max(1, Math.floor(maxConnections * sourceShare * part))
    const taken = takenShare === 0 ? '' : `{ sc1_conn_cur gt ${Math.floor(maxConnections * takenShare)} } `
    return `${taken}{ sc0_conn_cur gt ${mine} }`
  })
  return [
    `    tcp-request connection track-sc0 src,ipmask(32,64) table ${SOURCES}`,
    // 2.6 has no other way to get the number of connections of the process.
    `    tcp-request connection track-sc1 int(0) table ${ALL}`,
    `    tcp-request connection reject if ${full.join(' || ')}`,
  ]
}

/** The table has room for every connection, so no source is counted anew while it has connections. */
export const sourceTable = ({ maxConnections, sourceShare }: SourceBounds): readonly string[] =>
  sourceShare >= 1
    ? []
    : [
        `backend ${SOURCES}`,
        `    stick-table type ipv6 size ${2 * maxConnections} expire ${FORGET_AFTER} store conn_cur`,
        `backend ${ALL}`,
        '    stick-table type integer size 1 store conn_cur',
      ]
