import { isIp } from '@spout/net'
import type { AskedRequest } from '@spout/plan/requests'
import { UsageError } from '../connections/context.ts'

export interface RequestChoice {
  readonly address?: string
  readonly method: string
  readonly header: readonly string[]
  readonly client?: string
}

/** A request as somebody typed it, and where it goes. */
export interface AskedUrl {
  /** What the URL has for a host: a name, or an address without brackets. */
  readonly host: string
  readonly port: number
  readonly request: AskedRequest
}

/** @throws UsageError for what is no URL of HTTP, no header, or no address */
export function askedUrl(text: string, { method, header, client, address }: RequestChoice): AskedUrl {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${text}: is not a URL such as http://shop.example.com/cart`)
  for (const one of [client, address])
    if (one !== undefined && !isIp(one)) throw new UsageError(`${one}: is not an IP address`)
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
    request: {
      method: method.toUpperCase(),
      host: url.host,
      path: url.pathname,
      query: url.search.slice(1),
      headers: header.map(headerOf),
      source: client ?? null,
      client: null,
    },
  }
}

function headerOf(line: string): readonly [string, string] {
  const [, name, value] = /^([^\s:]+):\s*(.*)$/.exec(line) ?? []
  if (name === undefined || value === undefined) throw new UsageError(`${line}: is not a header such as "x-beta: 1"`)
  return [name, value]
}
