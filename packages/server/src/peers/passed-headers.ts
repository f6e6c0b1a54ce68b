import type { IncomingMessage } from 'node:http'

/** Those of one connection (RFC 9110, section 7.6.1), which the next one has of its own. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
])

/**
 * The headers of a message as they are passed on: as they came, each line by itself, without those of the connection. How
 * the body is framed stays, so that both ends agree where it ends.
 */
export function passedHeaders({ rawHeaders, headers }: IncomingMessage): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  const passed: Record<string, string | string[]> = Object.create(null)
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (OF_CONNECTION.has(name) || (named.has(name) && !FRAMING.has(name))) continue
    const before = passed[name]
    const value = rawHeaders[at + 1]!
    passed[name] = before === undefined ? value : [before, value].flat()
  }
  return passed
}

/** A client cannot have these left out by naming them in `Connection`. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'host'])
