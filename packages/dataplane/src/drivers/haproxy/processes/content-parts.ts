import { isDeepStrictEqual } from 'node:util'
import {
  parseAuthorities,
  parseCertificateList,
  parseCertificateLists,
  parseCertificates,
  parseRevocationLists,
} from '../certificates/tls-show.ts'
import { parseMaps, parseServers, showsRows, showsServers } from '../commands/show.ts'
import type { StatsSocket } from '../commands/stats-socket.ts'
import { emptyContent, type ProxyContent } from '../rendering/content.ts'
import { emptyTlsContent, type UnreadableContent } from '../rendering/tls-content.ts'
import { type MapName, ROW_MAPS, type RowMap, VALUE_MAPS } from '../sections/maps.ts'
import type { ProxyFiles } from './proxy-files.ts'

/**
 * Reads one part of what a process holds. @returns the content with this part as it is in the process; the same object
 * when it is as known
 * @throws ProxyLost
 */
type ReadPart = (socket: StatsSocket, files: ProxyFiles, content: ProxyContent) => Promise<ProxyContent>

const readServers: ReadPart = async (socket, _, content) => {
  const [servers = ''] = await socket.execute(['show servers state\n'])
  return showsServers(servers, content.backends) ? content : { ...content, backends: parseServers(servers) }
}

const readCertificates: ReadPart = async (socket, files, content) => {
  const [certificates = '', authorities = '', revoked = '', lists = ''] = await socket.execute([
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
    stored: parseCertificates(certificates),
    authorities: parseAuthorities(authorities),
    revocationLists: parseRevocationLists(revoked),
    listed: new Map(listed.filter(([, contents]) => contents.size > 0)),
  }
  return isDeepStrictEqual(tls, content.tls) ? content : { ...content, tls }
}

const readMaps = (socket: StatsSocket, files: ProxyFiles, maps: readonly MapName[]) =>
  socket.execute(maps.map((map) => `show map ${files.map(map)}\n`))

const readValues: ReadPart = async (socket, files, content) => {
  const texts = await readMaps(socket, files, VALUE_MAPS)
  const { frontends } = parseMaps(Object.fromEntries(VALUE_MAPS.map((map, index) => [map, texts[index] ?? ''])))
  return isDeepStrictEqual(frontends, content.frontends) ? content : { ...content, frontends }
}

const readRows =
  (map: RowMap): ReadPart =>
  async (socket, files, content) => {
    const [text = ''] = await readMaps(socket, files, [map])
    if (showsRows(text, map, content.rows)) return content
    const { rows: read } = parseMaps({ [map]: text })
    const rows = new Map<number, Map<RowMap, Map<string, string>>>()
    for (const slot of new Set([...content.rows.keys(), ...read.keys()])) {
      const others = [...(content.rows.get(slot) ?? [])].filter(([other]) => other !== map)
      const maps = new Map([...others, ...(read.get(slot) ?? [])])
      if (maps.size > 0) rows.set(slot, maps)
    }
    return { ...content, rows }
  }

/** Everything, in parts of which the longest is one map. */
export const CONTENT_PARTS: readonly ReadPart[] = [readServers, readCertificates, readValues, ...ROW_MAPS.map(readRows)]

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
  for (const read of CONTENT_PARTS) content = await read(socket, files, content)
  return content
}
