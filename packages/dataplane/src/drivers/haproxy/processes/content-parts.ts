import { isDeepStrictEqual } from 'node:util'
import {
  parseAuthorities,
  parseCertificateList,
  parseCertificateLists,
  parseCertificates,
  parseRevocationLists,
} from '../certificates/tls-show.ts'
import { comparedRows, comparedServers, parseMaps, parseServers } from '../commands/show.ts'
import type { StatsSocket } from '../commands/stats-socket.ts'
import { emptyContent, type ProxyContent } from '../rendering/content.ts'
import { emptyTlsContent, type UnreadableContent } from '../rendering/tls-content.ts'
import { type MapName, ROW_MAPS, type RowMap, VALUE_MAPS } from '../sections/maps.ts'
import type { ProxyFiles } from './proxy-files.ts'

/** A part of what a process holds. */
interface ContentPart {
  /** Whether the process has just what is known. With thousands of routes that keeps no text of it. @throws ProxyLost */
  readonly isKnown: (...from: Source) => Promise<boolean>
  /** @returns the content with this part as it is in the process. @throws ProxyLost */
  readonly read: (...from: Source) => Promise<ProxyContent>
}
type Source = [socket: StatsSocket, files: ProxyFiles, content: ProxyContent]

const SHOW_SERVERS = 'show servers state\n'

const servers: ContentPart = {
  async isKnown(socket, _, { backends }) {
    const compared = comparedServers(backends)
    await socket.lines(SHOW_SERVERS, (line) => compared.take(line))
    return compared.isSame
  },
  async read(socket, _, content) {
    const [text = ''] = await socket.execute([SHOW_SERVERS])
    return { ...content, backends: parseServers(text) }
  },
}

/** A part that is small enough to be read as a whole. */
const smallPart = (part: keyof ProxyContent, read: ContentPart['read']): ContentPart => ({
  isKnown: async (socket, files, content) =>
    isDeepStrictEqual((await read(socket, files, content))[part], content[part]),
  read,
})

const certificates = smallPart('tls', async (socket, files, content) => {
  const [stored = '', authorities = '', revoked = '', lists = ''] = await socket.execute([
    'show ssl cert\n',
    'show ssl ca-file\n',
    'show ssl crl-file\n',
    'show ssl crt-list\n',
  ])
  const slots = parseCertificateLists(lists)
  const inLists = await socket.execute(slots.map((slot) => `show ssl crt-list -n ${files.tls.list(slot)}\n`))
  const listed = slots.map((slot, index) => [slot, parseCertificateList(inLists[index] ?? '')] as const)
  const tls = {
    ...content.tls,
    stored: parseCertificates(stored),
    authorities: parseAuthorities(authorities),
    revocationLists: parseRevocationLists(revoked),
    listed: new Map(listed.filter(([, contents]) => contents.size > 0)),
  }
  return { ...content, tls }
})

const showMap = (files: ProxyFiles, map: MapName): string => `show map ${files.map(map)}\n`

const values = smallPart('frontends', async (socket, files, content) => {
  const texts = await socket.execute(VALUE_MAPS.map((map) => showMap(files, map)))
  const { frontends } = parseMaps(Object.fromEntries(VALUE_MAPS.map((map, index) => [map, texts[index] ?? ''])))
  return { ...content, frontends }
})

const rowsOfMap = (map: RowMap): ContentPart => ({
  async isKnown(socket, files, { rows }) {
    const compared = comparedRows(map, rows)
    await socket.lines(showMap(files, map), (line) => compared.take(line))
    return compared.isSame
  },
  async read(socket, files, content) {
    const [text = ''] = await socket.execute([showMap(files, map)])
    const { rows: read } = parseMaps({ [map]: text })
    const rows = new Map<number, Map<RowMap, Map<string, string>>>()
    for (const slot of new Set([...content.rows.keys(), ...read.keys()])) {
      const others = [...(content.rows.get(slot) ?? [])].filter(([other]) => other !== map)
      const maps = new Map([...others, ...(read.get(slot) ?? [])])
      if (maps.size > 0) rows.set(slot, maps)
    }
    return { ...content, rows }
  },
})

/** Everything, in parts of which the longest is one map. */
export const CONTENT_PARTS: readonly ContentPart[] = [servers, certificates, values, ...ROW_MAPS.map(rowsOfMap)]

/**
 * Reads back what a process holds. The third parameter is what cannot be read back, as last set.
 * @throws ProxyLost
 */
export async function readContent(
  socket: StatsSocket,
  files: ProxyFiles,
  { fallbacks, clients, revocations }: UnreadableContent,
): Promise<ProxyContent> {
  const unreadable = {
    fallbacks: new Map(fallbacks),
    clients: new Map(clients),
    revocations: new Map(revocations),
  }
  let content: ProxyContent = { ...emptyContent(), tls: { ...emptyTlsContent(), ...unreadable } }
  for (const part of CONTENT_PARTS) content = await part.read(socket, files, content)
  return content
}
