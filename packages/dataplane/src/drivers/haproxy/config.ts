import { serverWords } from './command.ts'
import { backendName, type FrontendValues, frontendName, MAPS, type MapName, type PlacedEntry } from './content.ts'
import type { RenderedServer } from './render.ts'
import type { BackendShape, Balance, FrontendShape } from './shape.ts'
import type { Slot } from './slot-table.ts'

/** What a process is started with, beside its slots and their content. Paths and numbers of our own making. */
export interface ProcessSettings {
  readonly uid: number
  readonly gid: number
  /** An empty directory. */
  readonly chroot: string
  readonly statsSocket: string
  /** Local addresses that the frontends listen on. */
  readonly addresses: readonly string[]
  /** Local port of frontend slot 0; slot n listens n above. */
  readonly firstPort: number
  /** Most connections at a time; more wait in the kernel's queue. */
  readonly maxConnections: number
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
    ...defaultsSections(settings.mapPath),
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
  `    maxconn ${settings.maxConnections}`,
  `    uid ${settings.uid}`,
  `    gid ${settings.gid}`,
  `    chroot ${settings.chroot}`,
  `    hard-stop-after ${settings.leaveAfterMs}ms`,
  `    stats socket ${settings.statsSocket} mode 600 level admin expose-fd listeners`,
  // The agent holds a connection open: its end is how it learns of the process's death.
  '    stats timeout 24d',
]

const value = (path: string): string => `fe_name,map(${path})`

/**
 * Frontend rules are the same for all slots, their data is in the maps. Setting a header replaces every line of that
 * name which the client sent. `X_Forwarded_For` is the same header to CGI-like servers, so it goes too, and a
 * `Connection` header could name ours as hop-by-hop and have the member drop it (RFC 9110 section 7.6.1).
 */
function defaultsSections(mapPath: (map: MapName) => string): readonly string[] {
  const forwarded = (map: MapName, header: string, source: string): readonly string[] => [
    `    http-request del-header ${header.replaceAll('-', '_')} if { ${value(mapPath(map))} -m found }`,
    `    http-request set-header ${header} ${source} if { ${value(mapPath(map))} -m found }`,
  ]
  const target = value(mapPath('backend'))
  // For `source-port`, which has no balance keyword of its own.
  const rememberPort = '    tcp-request connection set-var(sess.port) src_port'
  return [
    'defaults http-frontend',
    '    mode http',
    rememberPort,
    '    http-request set-header Connection upgrade if { req.hdr(upgrade) -m found }',
    '    http-request del-header Connection unless { req.hdr(upgrade) -m found }',
    ...forwarded('forwarded-for', 'X-Forwarded-For', '%[src]'),
    ...forwarded('forwarded-port', 'X-Forwarded-Port', `%[${value(mapPath('forwarded-port'))}]`),
    ...forwarded('forwarded-proto', 'X-Forwarded-Proto', `%[${value(mapPath('forwarded-proto'))}]`),
    'defaults tcp-frontend',
    '    mode tcp',
    // Nothing behind it: closed before a byte is read.
    `    tcp-request connection reject unless { ${target} -m found }`,
    rememberPort,
    'defaults http-backend',
    '    mode http',
    '    retries 3',
    '    option redispatch',
    'defaults tcp-backend',
    '    mode tcp',
    '    retries 3',
    '    option redispatch',
  ]
}

function frontendSection({ id, shape }: Slot<FrontendShape>, settings: ProcessSettings): readonly string[] {
  const port = settings.firstPort + id
  const target = value(settings.mapPath('backend'))
  return [
    `frontend ${frontendName(id)} from ${shape.mode}-frontend`,
    ...settings.addresses.map((address) => `    bind ${address.includes(':') ? `[${address}]` : address}:${port}`),
    `    timeout client ${timeoutText(shape.clientMs)}`,
    `    use_backend %[${target}] if { ${target} -m found }`,
  ]
}

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
