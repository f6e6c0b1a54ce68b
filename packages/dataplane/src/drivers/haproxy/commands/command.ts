import { endpointText } from '@spout/net'
import { followTls, isTlsCommand, type TlsCommand, tlsRefusal } from '../certificates/tls-command.ts'
import type { TlsFiles } from '../certificates/tls-files.ts'
import { backendName, frontendName, type ProxyContent, rowKey, rowsOf } from '../rendering/content.ts'
import { type MemberTls, memberTlsWords } from '../rendering/member-tls.ts'
import type { RenderedServer } from '../rendering/render-backend.ts'
import type { MapName, RowMap, ValueMap } from '../sections/maps.ts'

/**
 * One change of a running process. Plain data, so that a plan can be compared and counted, and applied to the known
 * content.
 */
export type Command = PlainCommand | TlsCommand

type PlainCommand =
  | {
      readonly do: 'add-server'
      readonly backend: number
      readonly server: RenderedServer
      readonly tls?: MemberTls
    }
  | { readonly do: 'set-weight'; readonly backend: number; readonly server: string; readonly weight: number }
  | { readonly do: 'set-ready'; readonly backend: number; readonly server: string; readonly ready: boolean }
  | { readonly do: 'set-drain' | 'del-server'; readonly backend: number; readonly server: string }
  | { readonly do: 'shutdown-sessions'; readonly backend: number; readonly server: string }
  | ({ readonly do: 'add-map' | 'set-map'; readonly value: string } & MapPlace)
  | ({ readonly do: 'del-map' } & MapPlace)

/** A frontend's value, or its row with this key. */
type MapPlace = ValuePlace | RowPlace
interface ValuePlace {
  readonly map: ValueMap
  readonly frontend: number
  readonly key?: undefined
}
interface RowPlace {
  readonly map: RowMap
  readonly frontend: number
  readonly key: string
}

/** One of `hosts` that are kept apart. */
const HOST = /(?:\*\.)?[a-z0-9_.-]+/.source
/** The commands' tokens. All tokens are our own; this is a second check. */
const TOKEN = new RegExp(
  `^(?:[A-Za-z0-9./:_\\][-]+|str\\([A-Za-z0-9_-]*\\),ub64dec|h2,http/1\\.1|${HOST}(?:,${HOST})*)$`,
)

const SEND_PROXY = { none: [], v1: ['send-proxy'], v2: ['send-proxy-v2'] } as const

/** A server's line, in a configuration or after `add server <backend>/`. */
export const serverWords = (
  server: RenderedServer,
  tls: MemberTls | undefined,
  certificateFile: (contentId: string) => string,
): readonly string[] => [
  endpointText(server),
  `id ${server.id}`,
  `weight ${server.weight}`,
  ...(server.slowStartMs === undefined ? [] : [`slowstart ${server.slowStartMs}`]),
  ...SEND_PROXY[server.proxyProtocol],
  ...(server.http2 ? ['proto h2'] : []),
  ...(tls === undefined ? [] : memberTlsWords(tls, certificateFile)),
]

/**
 * What servers of a configuration have by default. A server that is added at run time has zeros there (2.6,
 * `_srv_parse_init`), so each request would open a connection to the member.
 */
const KEPT_CONNECTIONS = ['pool-purge-delay 5s', 'pool-max-conn -1']

/** The file names by which the process knows maps and certificates. */
export interface KnownFiles {
  readonly map: (map: MapName) => string
  readonly tls: Pick<TlsFiles, 'certificate'>
}

/** Formats a command for the runtime API. */
export function commandText(command: PlainCommand, files: KnownFiles): string {
  switch (command.do) {
    case 'add-server': {
      // A new server begins in maintenance. The keyword `enabled` of 2.6 shows it as up, but it gets no traffic.
      const { backend, server, tls } = command
      const words = serverWords(server, tls, files.tls.certificate)
      return line('add server', serverPath(backend, server.name), ...words, ...KEPT_CONNECTIONS)
    }
    case 'set-weight':
      return line('set server', serverPath(command.backend, command.server), `weight ${command.weight}`)
    case 'set-ready':
      return line(
        'set server',
        serverPath(command.backend, command.server),
        `state ${command.ready ? 'ready' : 'maint'}`,
      )
    case 'set-drain':
      // The server exists, but gets no connections.
      return line('set server', serverPath(command.backend, command.server), 'state drain')
    case 'del-server':
      return line('del server', serverPath(command.backend, command.server))
    case 'shutdown-sessions':
      return line('shutdown sessions server', serverPath(command.backend, command.server))
    case 'add-map':
      // The payload form, since in a plain line a `;` would begin another command.
      return `add map ${token(files.map(command.map))} <<\n${token(keyOf(command))} ${token(command.value)}\n\n`
    case 'set-map':
      return line('set map', files.map(command.map), keyOf(command), command.value)
    case 'del-map':
      return line('del map', files.map(command.map), keyOf(command))
  }
}

const keyOf = ({ frontend, key }: MapPlace): string =>
  key === undefined ? frontendName(frontend) : rowKey(frontend, key)

const serverPath = (backend: number, server: string): string => `${backendName(backend)}/${server}`

const line = (...words: readonly string[]): string =>
  `${words
    .flatMap((word) => word.split(' '))
    .map(token)
    .join(' ')}\n`

function token(word: string): string {
  if (!TOKEN.test(word)) throw new RangeError(`${JSON.stringify(word)} is not valid in a command`)
  return word
}

const ACCEPTED: Readonly<Record<PlainCommand['do'], string>> = {
  'add-server': 'New server registered.',
  'set-weight': '',
  'set-ready': '',
  'set-drain': '',
  'del-server': 'Server deleted.',
  'shutdown-sessions': '',
  'add-map': '',
  'set-map': '',
  'del-map': '',
}

/** Replies about something that does not exist. Somebody else removed it, which is what removal wants. */
const ABSENT: ReadonlySet<string> = new Set(['Key not found.', 'No such server.'])

const removes = (command: PlainCommand): boolean =>
  ['del-map', 'del-server', 'set-drain'].includes(command.do) || (command.do === 'set-ready' && !command.ready)

/** The proxy's error text if it refused; null if it succeeded. Each command has its own reply for success. */
export function refusal(command: Command, reply: string): string | null {
  if (isTlsCommand(command)) return tlsRefusal(command, reply)
  if (reply === ACCEPTED[command.do] || (removes(command) && ABSENT.has(reply))) return null
  return reply === '' ? 'no answer' : reply
}

/** Updates `content` after an accepted command. */
export function follow(content: ProxyContent, command: Command): void {
  if (isTlsCommand(command)) {
    followTls(content.tls, command)
    return
  }
  if ('map' in command && command.key !== undefined) {
    followRow(content, command)
    return
  }
  if ('map' in command) {
    const { [command.map]: _, ...others } = content.frontends.get(command.frontend) ?? {}
    const values = command.do === 'del-map' ? others : { ...others, [command.map]: command.value }
    if (Object.keys(values).length > 0) content.frontends.set(command.frontend, values)
    else content.frontends.delete(command.frontend)
    return
  }
  const servers = content.backends.get(command.backend) ?? new Map()
  content.backends.set(command.backend, servers)
  const name = typeof command.server === 'string' ? command.server : command.server.name
  const state = servers.get(name) ?? { weight: 0, ready: false }
  if (command.do === 'add-server') servers.set(name, { weight: command.server.weight, ready: false })
  else if (command.do === 'set-weight') servers.set(name, { ...state, weight: command.weight })
  else if (command.do === 'set-ready') servers.set(name, { ...state, ready: command.ready })
  else if (command.do === 'del-server') servers.delete(name)
  if (servers.size === 0) content.backends.delete(command.backend)
}

function followRow({ rows }: ProxyContent, command: Extract<Command, RowPlace>): void {
  const maps = rows.get(command.frontend) ?? new Map()
  const held = rowsOf(maps, command.map)
  if (command.do === 'del-map') held.delete(command.key)
  else held.set(command.key, command.value)
  if (held.size === 0) maps.delete(command.map)
  if (maps.size > 0) rows.set(command.frontend, maps)
  else rows.delete(command.frontend)
}
