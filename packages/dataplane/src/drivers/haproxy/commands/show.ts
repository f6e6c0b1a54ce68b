import type { MemberTraffic } from '../../../contracts/driver.ts'
import type { ProxyMirrors } from '../place/mirror-share.ts'
import { emptyContent, type ProxyContent, rowsOf, type ServerState } from '../rendering/content.ts'
import { type MapName, ROW_MAPS, VALUE_MAPS } from '../sections/maps.ts'
import { clientConnections } from '../sections/source-share.ts'
import { type Columns, type Figures, figuresIn } from './figures.ts'

/** Parses output of the runtime API. Sections that are not ours are skipped. */

/** Responses by class of status: frontends, backends and servers count them alike. */
const RESPONSE_COLUMNS = {
  '1xx': 'hrsp_1xx',
  '2xx': 'hrsp_2xx',
  '3xx': 'hrsp_3xx',
  '4xx': 'hrsp_4xx',
  '5xx': 'hrsp_5xx',
} as const satisfies Columns

export const FRONTEND_COLUMNS = {
  current: 'scur',
  total: 'stot',
  bytesIn: 'bin',
  bytesOut: 'bout',
  requestErrors: 'ereq',
  requests: 'req_tot',
  ...RESPONSE_COLUMNS,
} as const satisfies Columns
/** Counters of one frontend since its process started. */
export type FrontendCounters = Figures<typeof FRONTEND_COLUMNS>

/** Averages are over the last 1,024 requests or connections. */
export const TRAFFIC_COLUMNS = {
  current: 'scur',
  queued: 'qcur',
  total: 'stot',
  bytesIn: 'bin',
  bytesOut: 'bout',
  connectionErrors: 'econ',
  responseErrors: 'eresp',
  retries: 'wretr',
  redispatches: 'wredis',
  ...RESPONSE_COLUMNS,
  queueMs: 'qtime',
  connectMs: 'ctime',
  responseMs: 'rtime',
  totalMs: 'ttime',
} as const satisfies Columns
/** Counters of a backend or a server since the process started, or the server was added. */
export type TrafficCounters = Figures<typeof TRAFFIC_COLUMNS>

const slotOf = (prefix: 'f' | 'b', name: string | undefined): number | null => {
  const match = /^([fb])([0-9]+)$/.exec(name ?? '')
  return match?.[1] === prefix ? Number(match[2]) : null
}

/** `show stat -1 1 -1`: only frontends, CSV with a header line. By slot. */
export function parseFrontendStats(csv: string): ReadonlyMap<number, FrontendCounters> {
  const stats = new Map<number, FrontendCounters>()
  for (const { proxy, figures } of figuresIn(csv, FRONTEND_COLUMNS)) {
    const slot = slotOf('f', proxy)
    if (slot !== null) stats.set(slot, figures)
  }
  return stats
}

/** Counters of a backend, and of each of its servers by name. */
export interface BackendTraffic {
  readonly all: TrafficCounters
  readonly servers: ReadonlyMap<string, TrafficCounters>
}

/** `show stat b<slot> 6 -1`: a backend and its servers. Null if there is none. */
export function parseTraffic(csv: string): BackendTraffic | null {
  let all: TrafficCounters | null = null
  const servers = new Map<string, TrafficCounters>()
  for (const { name, figures } of figuresIn(csv, TRAFFIC_COLUMNS))
    if (name === 'BACKEND') all = figures
    else servers.set(name, figures)
  return all && { all, servers }
}

/**
 * `show info`: lines `<name>: <value>`, and `show table` of all clients' connections, which has no line when there are
 * none. Null without the values that were asked for, since the output is something else.
 */
export function parseInfo(
  info: string,
  table: string,
): { readonly current: number; readonly most: number; readonly droppedLines: number } | null {
  const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(info)?.[1] ?? Number.NaN)
  const most = of('Maxconn')
  if (Number.isNaN(most) || !table.startsWith('# table: ')) return null
  const current = Number(/ conn_cur=(\d+)$/m.exec(table)?.[1] ?? 0)
  return { current, most: clientConnections(most), droppedLines: of('DroppedLogs') || 0 }
}

/** `show mirrors` of `mirrors.lua`; null for the answer of a process without it. */
export function parseMirrors(text: string): ProxyMirrors | null {
  const [, current, most, notMade] = /^(\d+) (\d+) (\d+)$/.exec(text.trim()) ?? []
  return current === undefined ? null : { current: Number(current), most: Number(most), notMade: Number(notMade) }
}

/** A server's traffic since the process started. */
export type ServerCounters = Pick<MemberTraffic, 'connected' | 'notConnected' | 'answered' | 'badAnswers'>

/** `show stat b<slot> 4 -1`: the servers of one backend, CSV with a header line. By name. */
export function parseServerStats(csv: string): ReadonlyMap<string, ServerCounters> {
  const [header = '', ...lines] = csv.split('\n')
  const columns = header.replace(/^# /, '').split(',')
  const stats = new Map<string, ServerCounters>()
  for (const line of lines) {
    const fields = line.split(',')
    const sum = (...names: readonly string[]): number =>
      names.reduce((total, name) => total + (Number(fields[columns.indexOf(name)] ?? 0) || 0), 0)
    const name = fields[columns.indexOf('svname')]
    if (name === undefined || line === '') continue
    // Failed, retried at the same server, and retried at another one.
    const notConnected = sum('econ', 'wretr', 'wredis')
    stats.set(name, {
      connected: Math.max(0, sum('connect', 'reuse') - notConnected),
      notConnected,
      answered: sum('hrsp_1xx', 'hrsp_2xx', 'hrsp_3xx', 'hrsp_4xx'),
      badAnswers: sum('eresp', 'hrsp_5xx'),
    })
  }
  return stats
}

/** `show servers state`: a version line, a header line, then one line per server (management guide, 9.3). */
export function parseServers(text: string): ProxyContent['backends'] {
  const lines = text.split('\n')
  const header =
    lines
      .find((line) => line.startsWith('# '))
      ?.slice(2)
      .split(' ') ?? []
  const column = (name: string): number => header.indexOf(name)
  const [backendAt, nameAt, adminAt, weightAt] = ['be_name', 'srv_name', 'srv_admin_state', 'srv_uweight'].map(column)
  const backends = new Map<number, Map<string, ServerState>>()
  for (const line of lines) {
    const fields = line.split(' ')
    const slot = slotOf('b', fields[backendAt!])
    const name = fields[nameAt!]
    if (slot === null || name === undefined) continue
    const servers = backends.get(slot) ?? new Map<string, ServerState>()
    servers.set(name, { weight: Number(fields[weightAt!]), ready: fields[adminAt!] === '0' })
    backends.set(slot, servers)
  }
  return backends
}

/** `show map <file>` of each map: `<reference> <key> <value>` per line. */
export function parseMaps(texts: Readonly<Partial<Record<MapName, string>>>): Pick<ProxyContent, 'frontends' | 'rows'> {
  const { frontends, rows } = emptyContent()
  for (const map of VALUE_MAPS)
    for (const [slot, , value] of mapLines(texts[map])) frontends.set(slot, { ...frontends.get(slot), [map]: value })
  for (const map of ROW_MAPS)
    for (const [slot, key, value] of mapLines(texts[map])) {
      const known = rows.get(slot) ?? new Map()
      rows.set(slot, known)
      rowsOf(known, map).set(key, value)
    }
  return { frontends, rows }
}

/** Slot of the frontend, the rest of the key, and the value. */
function* mapLines(text = ''): Generator<readonly [slot: number, key: string, value: string]> {
  for (const line of text.split('\n')) {
    const [, name = '', value] = line.split(' ')
    const end = name.includes('/') ? name.indexOf('/') : name.length
    const slot = slotOf('f', name.slice(0, end))
    if (slot !== null && value !== undefined) yield [slot, name.slice(end + 1), value]
  }
}
