/** Stick tables of the process: its connections by source, and in total. No slot has these names. */
const SOURCES = 'sources'
export const ALL = 'all'
/** Its requests by source: those that a connection does not stand for. */
const REQUESTERS = 'requesters'

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

/** Conditions that hold where one source has too much, or all have more than `most`. */
function tooMuch(
  most: number,
  sourceShare: number,
  counted: { readonly mine: string; readonly all: string },
): readonly string[] {
  const ofAll = `{ ${counted.all} gt ${most} }`
  if (sourceShare >= 1) return [ofAll]
  const ofOne = TIERS.map(({ takenShare, part }) => {
    const mine = Math.max(1, Math.floor(most * sourceShare * part))
    const taken = takenShare === 0 ? '' : `{ ${counted.all} gt ${Math.floor(most * takenShare)} } `
    return `${taken}{ ${counted.mine} gt ${mine} }`
  })
  return [...ofOne, ofAll]
}

/**
 * Rules for each new connection. The fuller the process, the fewer connections one source may have. A proxy or CDN in
 * front may use half of an idle process, but a few sources together never take the last quarter, which is left for many
 * others. The source of an IPv6 client is its /64, which is what one subscriber has (RFC 6177).
 *
 * The rules are in each frontend, since HAProxy 2.6 accepts `track-sc` in a defaults section but counts nothing there.
 */
export const sourceRules = ({ maxConnections, sourceShare }: SourceBounds): readonly string[] => [
  ...(sourceShare >= 1 ? [] : [`    tcp-request connection track-sc0 src,ipmask(32,64) table ${SOURCES}`]),
  // 2.6 has no other way to get the number of its clients' connections.
  `    tcp-request connection track-sc1 int(0) table ${ALL}`,
  `    tcp-request connection reject if ${tooMuch(maxConnections, sourceShare, { mine: 'sc0_conn_cur', all: 'sc1_conn_cur' }).join(' || ')}`,
  // Beyond it they wait in the kernel's queue.
  `    maxconn ${maxConnections}`,
]

/** The part of a process's concurrent requests that may go through relays. */
const RELAYED_SHARE = 1 / 2
/**
 * A relayed request is a connection of the process for each relay: of its deadline, or the body's, and of its attempts.
 */
const MOST_RELAYS = 2

/** HAProxy's `maxconn`: those of clients, and those to its relays. */
export const processConnections = ({ maxConnections }: Pick<SourceBounds, 'maxConnections'>): number =>
  maxConnections + MOST_RELAYS * Math.ceil(maxConnections * RELAYED_SHARE)

/** How many of HAProxy's `maxconn` are for clients. */
export const clientConnections = (most: number): number => Math.floor(most / (1 + MOST_RELAYS * RELAYED_SHARE))

/** HAProxy's condition that a request is over HTTP/2. */
export const IS_STREAM = '{ fc_http_major gt 1 }'

/**
 * Rules that count a request by its source until request and response have ended. They refuse it if its source has too
 * many requests for the present number of requests of the backend. HAProxy 2.6 has three counters, and connections use
 * two of them. So the backend's requests stand for those of the process. And a request that its route counts by client
 * (`client-concurrency.ts`) is not counted here, but has the same limit. Unlike `tcp-request` rules, these also count
 * in a defaults section.
 */
function requestRules(most: number, sourceShare: number, of: string): readonly string[] {
  const conditions = tooMuch(most, sourceShare, { mine: 'sc2_conn_cur', all: 'be_conn' })
  return [
    `    http-request track-sc2 src,ipmask(32,64) table ${REQUESTERS}${of === '' ? '' : ` if ${of.trim()}`}`,
    `    http-request return status 429 if ${conditions.map((each) => `${of}${each}`).join(' || ')}`,
  ]
}

/** Most requests of one source at a time that are answered before their body has arrived. */
const MOST_UNREAD = 100

/** Rules before an answer of Lua that reads the rest of a body. They limit how many one source may have over HTTP/2. */
export const unreadRules = (condition: string): readonly string[] => [
  `    http-request track-sc2 src,ipmask(32,64) table ${REQUESTERS} if ${condition} ${IS_STREAM}`,
  `    http-request return status 429 if ${condition} ${IS_STREAM} { sc2_conn_cur gt ${MOST_UNREAD} }`,
]

/**
 * For backends: a connection of HTTP/2 has a hundred requests at once, each with a connection to a member. Over HTTP/1
 * the connection stands for its request.
 */
export const streamRules = ({ maxConnections, sourceShare }: SourceBounds): readonly string[] =>
  requestRules(maxConnections, sourceShare, `${IS_STREAM} `)

/** For relays, over HTTP/1, too: a relayed request takes up to four descriptors more. */
export const relayedRules = ({ maxConnections, sourceShare }: SourceBounds): readonly string[] =>
  requestRules(Math.ceil(maxConnections * RELAYED_SHARE), sourceShare, '')

/** The tables have room for every connection, so no source is counted anew while it has connections. */
export const sourceTable = ({ maxConnections, sourceShare }: SourceBounds): readonly string[] => {
  const table = (name: string, type: string, size: number): readonly string[] => [
    `backend ${name}`,
    `    stick-table type ${type} size ${size} expire ${FORGET_AFTER} store conn_cur`,
  ]
  return [
    ...(sourceShare >= 1 ? [] : table(SOURCES, 'ipv6', 2 * maxConnections)),
    ...table(ALL, 'integer', 1),
    ...table(REQUESTERS, 'ipv6', 2 * maxConnections),
  ]
}
