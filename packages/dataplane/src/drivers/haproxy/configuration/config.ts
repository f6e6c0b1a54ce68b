import { endpointText } from '@spout/net'
import { serverWords } from '../commands/command.ts'
import {
  backendName,
  frontendName,
  type PlacedBackend,
  type PlacedEntry,
  type PlacedFrontend,
  rowKey,
  rowsIn,
} from '../rendering/content.ts'
import { bodyFilter } from '../rendering/request-sizes.ts'
import { metricsBackend } from '../requests/metrics-backend.ts'
import { connectionLineRule, lineFormat } from '../requests/request-lines.ts'
import { clientTable } from '../routes/client-concurrency.ts'
import { mirrorFrontend } from '../routes/mirrors.ts'
import { attemptLimit, attemptTable, ONLY_LIMITED, relayDefaults, relays } from '../routes/relays.ts'
import { answerBackends } from '../routes/route-rules.ts'
import { usersBackend } from '../routes/users-backend.ts'
import { behindDefaults, bindBehind, wayBehind } from '../sections/behind.ts'
import { isSet } from '../sections/is-set.ts'
import { isValueMap, MAPS, type MapName } from '../sections/maps.ts'
import { DEFAULT_OPTIONS } from '../sections/options.ts'
import { type BackendShape, type Balance, type FrontendShape, frontendKind, type TlsShape } from '../sections/shape.ts'
import type { Slot } from '../sections/slot-table.ts'
import {
  processConnections,
  type SourceBounds,
  sourceRules,
  sourceTable,
  streamRules,
} from '../sections/source-share.ts'
import { cipherWords } from '../sections/tls-values.ts'
import { httpRules } from './http-rules.ts'
import { goesByName, serverNameRules } from './server-name-rules.ts'
import { keptClientRules, sessionRules } from './session-rules.ts'

/** Start parameters of a process, besides its slots and their content. All paths and numbers are our own. */
export interface ProcessSettings extends SourceBounds {
  readonly uid: number
  readonly gid: number
  /** A directory for the sockets of relays alone. */
  readonly chroot: string
  readonly statsSocket: string
  /** Local addresses of the frontends, which accept connections to any address. */
  readonly addresses: readonly string[]
  /** Local port of frontend slot 0; slot n listens on this port + n. */
  readonly firstPort: number
  /** Time limit for the header of a request. */
  readonly requestWithinMs: number
  /** HAProxy's `tune.bufsize`. */
  readonly bufferBytes: number
  /** How long a replaced process may keep its connections. */
  readonly leaveAfterMs: number
  /** The Lua programs to load; none for a build without Lua. */
  readonly luaPrograms: readonly string[]
  readonly mapPath: (map: MapName) => string
  readonly certificatePath: (contentId: string) => string
  /** The list of certificates of a frontend slot. */
  readonly listPath: (slot: number) => string
  /** The authorities of the clients' certificates of a frontend slot. */
  readonly clientsPath: (slot: number) => string
  /** The lists of revoked clients' certificates of a frontend slot. */
  readonly revocationsPath: (slot: number) => string
}

export interface ProcessPlan {
  readonly settings: ProcessSettings
  readonly frontends: readonly Slot<FrontendShape>[]
  readonly backends: readonly Slot<BackendShape>[]
  readonly entries: readonly PlacedEntry[]
}

/**
 * Renders the whole configuration with all slots and all wanted servers, so that a new process has everything at once.
 * It contains no tenant text: section names and numbers are ours, addresses are canonical.
 */
export function renderConfig({ settings, frontends, backends, entries }: ProcessPlan): string {
  const placed = new Map(entries.flatMap((entry) => entry.backends.map((backend) => [backend.slot, backend])))
  return `${[
    ...globalSection(settings),
    ...sourceTable(settings),
    ...attemptTable(settings.maxConnections),
    ...clientTable(settings.maxConnections),
    ...defaultsSections({ settings, frontends, backends }),
    ...frontends.flatMap((slot) => frontendSection(slot, settings)),
    ...answerBackends(settings.mapPath, settings.luaPrograms.length > 0),
    ...relays(settings, settings.luaPrograms.length > 0),
    ...(settings.luaPrograms.length === 0 ? [] : [...mirrorFrontend(settings), ...usersBackend]),
    ...metricsBackend(settings.mapPath),
    ...backends.flatMap((slot) => backendSection(slot, placed.get(slot.id), settings)),
  ].join('\n')}\n`
}

/** Renders the map files: lines `<frontend> <value>` and `<frontend>/<key> <value>`. */
export function renderMaps(entries: readonly PlacedEntry[]): Readonly<Record<MapName, string>> {
  const rows = entries.flatMap((entry) => entry.frontends).sort((a, b) => a.slot - b.slot)
  const textOf = (map: MapName): string => rows.map((frontend) => mapLines(frontend, map)).join('')
  return Object.fromEntries(MAPS.map((map) => [map, textOf(map)])) as Record<MapName, string>
}

function mapLines({ slot, values, rows }: PlacedFrontend, map: MapName): string {
  if (isValueMap(map)) return values[map] === undefined ? '' : `${frontendName(slot)} ${values[map]}\n`
  let text = ''
  if (rows !== undefined)
    for (const row of rowsIn(rows)) if (row.map === map) text += `${rowKey(slot, row.key)} ${row.value}\n`
  return text
}

/** The maps that the Lua programs look up. */
const LUA_MAPS: readonly MapName[] = [
  'tests',
  'filters',
  'share-filters',
  'mirrors',
  'authorizers',
  'backend',
  'defaults',
  'shares',
  'paths',
  'hosts',
]

const globalSection = (settings: ProcessSettings): readonly string[] => [
  'global',
  // One thread, no master process: 5 MB instead of 20 for a tenant without traffic.
  '    nbthread 1',
  // Requests that are processed together hold buffers at the same time. This few fit into the thread's cache of them.
  '    tune.maxpollevents 16',
  `    maxconn ${processConnections(settings)}`,
  ...(settings.bufferBytes === DEFAULT_OPTIONS.bufferBytes ? [] : [`    tune.bufsize ${settings.bufferBytes}`]),
  `    uid ${settings.uid}`,
  `    gid ${settings.gid}`,
  `    chroot ${settings.chroot}`,
  `    hard-stop-after ${settings.leaveAfterMs}ms`,
  `    stats socket ${settings.statsSocket} mode 600 level admin expose-fd listeners`,
  // The agent keeps a connection open. When it closes, the process has died.
  '    stats timeout 24d',
  // Forward secrecy and AEAD alone (RFC 9325). TLS 1.3 has no others.
  '    ssl-default-bind-ciphers ECDHE+AESGCM:ECDHE+CHACHA20',
  '    ssl-default-server-ciphers ECDHE+AESGCM:ECDHE+CHACHA20',
  // Without it HAProxy offers no DHE cipher, for listeners that name one. RFC 9325 section 4.4.
  '    tune.ssl.default-dh-param 2048',
  // Tickets resume sessions without a cache, which would take megabytes of every tenant's process.
  '    tune.ssl.cachesize 0',
  ...(settings.luaPrograms.length === 0
    ? []
    : LUA_MAPS.map((map) => `    setenv SPOUT_${map.toUpperCase().replace('-', '_')}_MAP ${settings.mapPath(map)}`)),
  ...settings.luaPrograms.map((program) => `    lua-load ${program}`),
]

const target = ({ mapPath }: ProcessSettings): string => `fe_name,map(${mapPath('backend')})`

/**
 * Another server is tried at the first retry. Otherwise a client that is hashed to a dead member would wait two seconds
 * for another member.
 */
const REDISPATCH = '    option redispatch 1'

/**
 * Names a defaults section. Rules would take 3 KB in each of thousands of backends, so they are in defaults sections:
 * one for all backends that have the same time-out for members. Those of a session are in the backend itself.
 */
const backendKind = ({ mode, memberMs, session }: Pick<BackendShape, 'mode' | 'memberMs' | 'session'>): string =>
  mode === 'http' ? `http-${memberMs}${session === undefined ? '' : '-session'}` : mode

const memberRules = ({ session, memberMs }: BackendShape, settings: ProcessSettings): readonly string[] => [
  // It would skip the rules of a session, too.
  ...(session === undefined ? [ONLY_LIMITED] : []),
  ...streamRules(settings),
  ...attemptLimit(timeoutText(memberMs)),
]

function defaultsSections({
  settings,
  frontends,
  backends,
}: Pick<ProcessPlan, 'settings' | 'frontends' | 'backends'>): readonly string[] {
  const kinds = new Map(frontends.map(({ shape }) => [frontendKind(shape), shape]))
  return [
    ...[...kinds].flatMap(([kind, shape]) => [
      `defaults ${kind}-frontend`,
      `    mode ${shape.mode}`,
      ...lineFormat(shape.mode, settings.mapPath),
      ...(shape.mode === 'http' ? httpRules(shape, settings) : []),
    ]),
    // For answers of the proxy itself.
    'defaults http-backend',
    '    mode http',
    ...streamRules(settings),
    ...relayDefaults(settings),
    ...(frontends.some(({ shape }) => shape.behind) ? behindDefaults : []),
    ...[...new Map(backends.map(({ shape }) => [backendKind(shape), shape]))].flatMap(([kind, shape]) => [
      `defaults ${kind}-backend`,
      `    mode ${shape.mode}`,
      '    retries 3',
      REDISPATCH,
      ...(shape.mode === 'http' ? memberRules(shape, settings) : []),
    ]),
  ]
}

/**
 * Rules for a connection that is admitted. 2.6 evaluates no such rules of a defaults section unless the frontend has
 * one of the same kind, so they are in each frontend.
 */
const connectionRules = ({ mode, tls, behind }: FrontendShape, settings: ProcessSettings): readonly string[] => [
  // For `source-port`, which has no balance keyword of its own. Behind a PROXY header the client is known later.
  `    tcp-request ${behind ? 'session' : 'connection'} set-var(sess.port) src_port`,
  // For members whose SNI is the name that the client requested, also behind a relay.
  ...(tls === undefined ? [] : ['    tcp-request session set-var(sess.sni) ssl_fc_sni']),
  // A listener without a backend: closed before a byte is read. Not counted with a source's refused connections.
  ...(mode === 'tcp'
    ? [`    tcp-request session reject unless { ${target(settings)} -m found }`, connectionLineRule(settings.mapPath)]
    : []),
]

const CHOSEN = '    use_backend %[var(txn.target)]'

/** `transparent` accepts connections to other addresses: the packet filter redirects connections to VIPs unchanged. */
function frontendSection({ id, shape }: Slot<FrontendShape>, settings: ProcessSettings): readonly string[] {
  const port = settings.firstPort + id
  return [
    `frontend ${frontendName(id)} from ${frontendKind(shape)}-frontend`,
    ...settings.addresses.map((address) => {
      return `    bind ${endpointText({ address, port })} transparent${tlsWords(id, shape, settings)}`
    }),
    ...bindBehind(id, shape, settings).map((line) => `${line}${tlsWords(id, shape, settings)}`),
    ...sourceRules(settings),
    ...connectionRules(shape, settings),
    ...bodyFilter(shape.sizes),
    ...serverNameRules(shape, settings),
    `    timeout client ${timeoutText(shape.clientMs)}`,
    ...(shape.mode === 'http' ? requestTimeouts(shape.clientMs, settings) : []),
    // Without a backend of that name the answer is 503. What the rules have chosen comes before the listener's own.
    ...(shape.mode === 'http' ? [`${CHOSEN} if ${isSet('target')}`] : []),
    goesByName(shape) ? CHOSEN : `    use_backend %[${target(settings)}]`,
    ...wayBehind(id, shape),
  ]
}

/** Names of certificates (SNI) are looked up in the frontend's own list. */
function tlsWords(
  id: number,
  { tls }: FrontendShape,
  { listPath, clientsPath, revocationsPath }: ProcessSettings,
): string {
  if (tls === undefined) return ''
  const { minVersion, ciphers, alpn, unknownNames, clients, revocations } = tls
  return [
    ` ssl crt-list ${listPath(id)}`,
    `ssl-min-ver TLSv${minVersion}`,
    ...cipherWords(ciphers),
    ...(alpn.length > 0 ? [`alpn ${alpn.join()}`] : []),
    ...(unknownNames === 'refuse' ? ['strict-sni'] : []),
    // HAProxy checks no certificate when a session is resumed, and its tickets outlive new authorities and lists.
    ...(clients === undefined ? [] : [verifyWords(clients), `ca-file ${clientsPath(id)}`, 'no-tls-tickets']),
    // OpenSSL checks the whole chain: each authority needs a list.
    ...(revocations === undefined ? [] : [`crl-file ${revocationsPath(id)}`]),
  ].join(' ')
}

const verifyWords = (clients: NonNullable<TlsShape['clients']>): string =>
  clients === 'any' ? 'verify optional crt-ignore-err all ca-ignore-err all' : `verify ${clients}`

/** An idle connection is kept as long as a silent one, but not longer than clients keep one for their next request. */
const MOST_IDLE_MS = 300_000

/** A client that sends its header byte by byte is never silent for long, so the header as a whole has a time limit. */
const requestTimeouts = (clientMs: number, { requestWithinMs }: ProcessSettings): readonly string[] => [
  `    timeout http-request ${Math.min(clientMs || requestWithinMs, requestWithinMs)}ms`,
  `    timeout http-keep-alive ${Math.min(clientMs || MOST_IDLE_MS, MOST_IDLE_MS)}ms`,
]

/** 0 means no time-out, about which HAProxy warns. The highest value has nearly the same effect. */
const timeoutText = (timeoutMs: number): string => (timeoutMs === 0 ? '24d' : `${timeoutMs}ms`)

/**
 * Consistent hashing for all algorithms: HAProxy refuses to add servers at run time with any other, and few clients
 * move.
 */
const BALANCE: Readonly<Record<Balance, readonly string[]>> = {
  roundrobin: ['    balance roundrobin'],
  leastconn: ['    balance leastconn'],
  source: ['    balance source', '    hash-type consistent'],
  'source-port': ['    balance hash src,concat(-,sess.port)', '    hash-type consistent'],
}

const backendSection = (
  { id, shape }: Slot<BackendShape>,
  placed: PlacedBackend | undefined,
  { certificatePath }: ProcessSettings,
): readonly string[] => [
  `backend ${backendName(id)} from ${backendKind(shape)}-backend`,
  ...BALANCE[shape.balance],
  ...sessionRules(shape.session),
  ...keptClientRules(shape.keepSeconds),
  `    timeout connect ${timeoutText(shape.connectMs)}`,
  `    timeout server ${timeoutText(shape.memberMs)}`,
  ...(placed?.servers ?? []).map((server) => {
    const words = serverWords(server, placed?.tls, certificatePath)
    return `    server ${server.name} ${words.join(' ')}${server.ready ? '' : ' disabled'}`
  }),
]
