import { serverWords } from './command.ts'
import { backendName, type FrontendValues, frontendName, MAPS, type MapName, type PlacedEntry } from './content.ts'
import type { RenderedServer } from './render.ts'
import { type BackendShape, type Balance, type Forwarded, type FrontendShape, frontendKind } from './shape.ts'
import type { Slot } from './slot-table.ts'
import { type SourceBounds, sourceRules, sourceTable } from './source-share.ts'

/** What a process is started with, beside its slots and their content. Paths and numbers of our own making. */
export interface ProcessSettings extends SourceBounds {
  readonly uid: number
  readonly gid: number
  /** An empty directory. */
  readonly chroot: string
  readonly statsSocket: string
  /** Local addresses that the frontends listen on, for connections to any address. */
  readonly addresses: readonly string[]
  /** Local port of frontend slot 0; slot n listens n above. */
  readonly firstPort: number
  /** How long the header of a request may take. */
  readonly requestWithinMs: number
  /** How long a process that was replaced may keep its connections. */
  readonly leaveAfterMs: number
  readonly mapPath: (map: MapName) => string
}

export interface ProcessPlan {
  readonly settings: ProcessSettings
  readonly frontends: readonly Slot<FrontendShape>[]
  readonly backends: readonly Slot<BackendShape>[]
  readonly entries: readonly PlacedEntry[]
}

/**
 * The whole configuration: every slot, and every server as it is wanted now, so that a process that is started has
 * everything at once. Holds nothing that a tenant wrote: section names and numbers are ours, addresses are canonical.
 */
export function renderConfig({ settings, frontends, backends, entries }: ProcessPlan): string {
  const servers = new Map(entries.flatMap((entry) => entry.backends.map(({ slot, servers }) => [slot, servers])))
  return `${[
    ...globalSection(settings),
    ...sourceTable(settings),
    ...defaultsSections({ settings, frontends }),
    ...frontends.flatMap((slot) => frontendSection(slot, settings)),
    ...backends.flatMap((slot) => backendSection(slot, servers.get(slot.id) ?? [])),
  ].join('\n')}\n`
}

/** The text of each map file: a line `<frontend> <value>` for each frontend that has one. */
export function renderMaps(entries: readonly PlacedEntry[]): Readonly<Record<MapName, string>> {
  const rows = entries.flatMap((entry) => entry.frontends).sort((a, b) => a.slot - b.slot)
  const textOf = (map: MapName): string => rows.map(({ slot, values }) => mapLine(slot, values, map)).join('')
  return Object.fromEntries(MAPS.map((map) => [map, textOf(map)])) as Record<MapName, string>
}

const mapLine = (slot: number, values: FrontendValues, map: MapName): string =>
  values[map] === undefined ? '' : `${frontendName(slot)} ${values[map]}\n`

const globalSection = (settings: ProcessSettings): readonly string[] => [
  'global',
  // One thread, no master: 5 MB instead of 20 for a tenant that does nothing.
  '    nbthread 1',
  // Requests taken up together hold buffers at a time: few enough fit into the thread's cache of them.
  '    tune.maxpollevents 16',
  `    maxconn ${settings.maxConnections}`,
  `    uid ${settings.uid}`,
  `    gid ${settings.gid}`,
  `    chroot ${settings.chroot}`,
  `    hard-stop-after ${settings.leaveAfterMs}ms`,
  `    stats socket ${settings.statsSocket} mode 600 level admin expose-fd listeners`,
  // The agent holds a connection open: its end is how it learns of the process's death.
  '    stats timeout 24d',
]

const target = ({ mapPath }: ProcessSettings): string => `fe_name,map(${mapPath('backend')})`

/**
 * Frontend rules are the same for all slots of a kind. Setting a header replaces every line of that name which the client
 * sent. `X_Forwarded_For` is the same header to CGI-like servers, so it goes too, and a `Connection` header could name
 * ours as hop-by-hop and have the member drop it (RFC 9110 section 7.6.1).
 */
const HEADERS: Readonly<Record<Forwarded, readonly string[]>> = {
  for: ['    http-request del-header X_Forwarded_For', '    http-request set-header X-Forwarded-For %[src]'],
  // Connections keep the address and port that they were made to.
  port: ['    http-request del-header X_Forwarded_Port', '    http-request set-header X-Forwarded-Port %[dst_port]'],
  proto: ['    http-request del-header X_Forwarded_Proto', '    http-request set-header X-Forwarded-Proto http'],
}
const CONNECTION = [
  '    http-request set-header Connection upgrade if { req.hdr(upgrade) -m found }',
  '    http-request del-header Connection unless { req.hdr(upgrade) -m found }',
]

/** At the first retry: a client that belongs to a dead member by its address would wait two seconds for another one. */
const REDISPATCH = '    option redispatch 1'

function defaultsSections({ settings, frontends }: Pick<ProcessPlan, 'settings' | 'frontends'>): readonly string[] {
  const kinds = new Map(frontends.map(({ shape }) => [frontendKind(shape), shape]))
  return [
    ...[...kinds].flatMap(([kind, { mode, forwarded }]) => [
      `defaults ${kind}-frontend`,
      `    mode ${mode}`,
      // A process that was replaced closes each connection behind an answer that says so, idle ones when their time is up.
      ...(mode === 'http' ? ['    option idle-close-on-response'] : []),
      // For `source-port`, which has no balance keyword of its own.
      '    tcp-request connection set-var(sess.port) src_port',
      // Nothing behind it: closed before a byte is read. Not counted with the connections that a source had too many of.
      ...(mode === 'tcp' ? [`    tcp-request session reject unless { ${target(settings)} -m found }`] : []),
      ...(forwarded.length > 0 ? CONNECTION : []),
      ...forwarded.flatMap((each) => HEADERS[each]),
    ]),
    'defaults http-backend',
    '    mode http',
    '    retries 3',
    REDISPATCH,
    'defaults tcp-backend',
    '    mode tcp',
    '    retries 3',
    REDISPATCH,
  ]
}

/** `transparent` takes what is meant for other addresses: the packet filter gives it connections to VIPs as they are. */
function frontendSection({ id, shape }: Slot<FrontendShape>, settings: ProcessSettings): readonly string[] {
  const port = settings.firstPort + id
  return [
    `frontend ${frontendName(id)} from ${frontendKind(shape)}-frontend`,
    ...settings.addresses.map((address) => {
      return `    bind ${address.includes(':') ? `[${address}]` : address}:${port} transparent`
    }),
    ...sourceRules(settings),
    `    timeout client ${timeoutText(shape.clientMs)}`,
    ...(shape.mode === 'http' ? requestTimeouts(shape.clientMs, settings) : []),
    // Without an answer there is no such backend, which is 503.
    `    use_backend %[${target(settings)}]`,
  ]
}

/** An idle connection is kept as long as a silent one, but no longer than any client keeps one for its next request. */
const MOST_IDLE_MS = 300_000

/** A client that sends its header a byte at a time is never silent for long: the header as a whole has its time. */
const requestTimeouts = (clientMs: number, { requestWithinMs }: ProcessSettings): readonly string[] => [
  `    timeout http-request ${Math.min(clientMs || requestWithinMs, requestWithinMs)}ms`,
  `    timeout http-keep-alive ${Math.min(clientMs || MOST_IDLE_MS, MOST_IDLE_MS)}ms`,
]

/** 0 is no time-out, about which HAProxy warns: nearly the longest that it knows comes to the same. */
const timeoutText = (timeoutMs: number): string => (timeoutMs === 0 ? '24d' : `${timeoutMs}ms`)

/** A consistent hash throughout: HAProxy refuses servers at run time with any other, and few clients move. */
const BALANCE: Readonly<Record<Balance, readonly string[]>> = {
  roundrobin: ['    balance roundrobin'],
  leastconn: ['    balance leastconn'],
  source: ['    balance source', '    hash-type consistent'],
  'source-port': ['    balance hash src,concat(-,sess.port)', '    hash-type consistent'],
}

const backendSection = ({ id, shape }: Slot<BackendShape>, servers: readonly RenderedServer[]): readonly string[] => [
  `backend ${backendName(id)} from ${shape.mode}-backend`,
  ...BALANCE[shape.balance],
  `    timeout connect ${timeoutText(shape.connectMs)}`,
  `    timeout server ${timeoutText(shape.memberMs)}`,
  ...servers.map(
    (server) => `    server ${server.name} ${serverWords(server).join(' ')}${server.ready ? '' : ' disabled'}`,
  ),
]
