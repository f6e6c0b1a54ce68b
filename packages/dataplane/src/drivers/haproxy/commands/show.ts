import type { MemberTraffic } from '../../../contracts/driver.ts'
import type { ProxyMirrors } from '../place/mirror-share.ts'
import { emptyContent, type ProxyContent, rowsOf, type ServerState } from '../rendering/content.ts'
import { type MapName, ROW_MAPS, type RowMap, VALUE_MAPS } from '../sections/maps.ts'
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

const slotOf = (prefix: 'f' | 'b', name: string | undefined): number | null =>
  name?.[0] === prefix && /^.[0-9]+$/.test(name) ? Number(name.slice(1)) : null

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

/** `show info` of a process that has stopped listening, since another one replaces it. */
export const isStopping = (info: string): boolean => /^Stopping: 1$/m.test(info)

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
  const backends = new Map<number, Map<string, ServerState>>()
  for (const [slot, name, state] of serverLines(text)) {
    const servers = backends.get(slot) ?? new Map<string, ServerState>()
    servers.set(name, state)
    backends.set(slot, servers)
  }
  return backends
}

/** Compares the lines of an output, one after the other, with what is known. */
export interface Comparison {
  take(line: string): void
  /** Whether they showed exactly what is known. */
  readonly isSame: boolean
}

/** Compares `show servers state` with these servers. */
export function comparedServers(backends: ProxyContent['backends']): Comparison {
  const read = readingServers()
  let shown = 0
  let differs = false
  return {
    take(line) {
      const server = differs ? null : read(line)
      if (server === null) return
      const [slot, name, { weight, ready }] = server
      const known = backends.get(slot)?.get(name)
      if (known?.weight === weight && known.ready === ready) shown++
      else differs = true
    },
    get isSame() {
      return !differs && shown === backends.values().reduce((sum, { size }) => sum + size, 0)
    },
  }
}

type ServerLine = readonly [slot: number, name: string, state: ServerState]

function* serverLines(text: string): Generator<ServerLine> {
  const read = readingServers()
  for (const line of linesOf(text)) {
    const server = read(line)
    if (server !== null) yield server
  }
}

/** Reads the lines in their order: one of them names the columns. */
function readingServers(): (line: string) => ServerLine | null {
  let columns: readonly number[] = []
  return (line) => {
    if (line.startsWith('# ')) {
      const header = line.slice(2).split(' ')
      columns = ['be_name', 'srv_name', 'srv_admin_state', 'srv_uweight'].map((name) => header.indexOf(name))
    }
    // The many columns behind the ones that are read are not split.
    const fields = line.split(' ', Math.max(...columns) + 1)
    const [backend, name, admin, weight] = columns.map((at) => fields[at])
    const slot = slotOf('b', backend)
    return slot === null || name === undefined ? null : [slot, name, { weight: Number(weight), ready: admin === '0' }]
  }
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

/** Compares `show map <file>` with the rows of this map that are known. */
export function comparedRows(map: RowMap, rows: ProxyContent['rows']): Comparison {
  let shown = 0
  let differs = false
  return {
    take(line) {
      const row = differs ? null : mapLine(line)
      if (row === null) return
      const [slot, key, value] = row
      if (rows.get(slot)?.get(map)?.get(key) === value) shown++
      else differs = true
    },
    get isSame() {
      return !differs && shown === rows.values().reduce((sum, maps) => sum + (maps.get(map)?.size ?? 0), 0)
    },
  }
}

type MapLine = readonly [slot: number, key: string, value: string]

function* mapLines(text = ''): Generator<MapLine> {
  for (const line of linesOf(text)) {
    const row = mapLine(line)
    if (row !== null) yield row
  }
}

/** Slot of the frontend, the rest of the key, and the value. */
function mapLine(line: string): MapLine | null {
  const at = line.indexOf(' ') + 1
  const end = line.indexOf(' ', at)
  if (at === 0 || end < 0) return null
  const slash = line.indexOf('/', at)
  const endOfSlot = slash < 0 || slash > end ? end : slash
  const slot = slotOf('f', line.slice(at, endOfSlot))
  return slot === null ? null : [slot, line.slice(endOfSlot + 1, end), line.slice(end + 1)]
}

/** The lines of a text that may be megabytes long. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    yield text.slice(from, end < 0 ? text.length : end)
    from = end < 0 ? text.length : end + 1
  }
}
