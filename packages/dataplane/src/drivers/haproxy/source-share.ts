/** Tables of the process: its connections by source, and all of them. No slot has these names. */
const SOURCES = 'sources'
const ALL = 'all'

/** How long a source without connections is remembered. */
const FORGET_AFTER = '10s'

export interface SourceBounds {
  /** Most connections of the process at a time. */
  readonly maxConnections: number
  /** Most of them that one source may have, as a share: above 0, and 1 for all of them. */
  readonly sourceShare: number
}

/** What one source may have once so many of all connections are taken. Each is a part of the one before. */
const TIERS = [
  { takenShare: 0, part: 1 },
  { takenShare: 1 / 2, part: 1 / 4 },
  { takenShare: 3 / 4, part: 1 / 32 },
] as const

/**
 * Rules for each new connection. The fuller the process, the less may one source have of it: a proxy or a content network
 * in front may use half of an idle process alone, yet a few sources together never take the last quarter, where
 * many others find place. Nothing is asked of a request on a connection that is there. The source of an IPv6 client is
 * its /64, since that is what one subscriber has (RFC 6177).
 *
 * For each frontend: HAProxy 2.6 accepts `track-sc` in a section of defaults, and counts nothing there.
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
    // 2.6 has no other way to ask how many connections the process has.
    `    tcp-request connection track-sc1 int(0) table ${ALL}`,
    `    tcp-request connection reject if ${full.join(' || ')}`,
  ]
}

/** The table has a place for every connection, so no source is counted anew while it has some. */
export const sourceTable = ({ maxConnections, sourceShare }: SourceBounds): readonly string[] =>
  sourceShare >= 1
    ? []
    : [
        `backend ${SOURCES}`,
        `    stick-table type ipv6 size ${2 * maxConnections} expire ${FORGET_AFTER} store conn_cur`,
        `backend ${ALL}`,
        '    stick-table type integer size 1 store conn_cur',
      ]
