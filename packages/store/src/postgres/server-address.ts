import type { PostgresAddress } from './settings.ts'

const PORT = 5432

/**
 * `host`, `host:port`, `[IPv6]`, `[IPv6]:port`, or the directory of a UNIX socket, with `:port` if it is not 5432.
 * @returns null for anything else
 */
export function parsePostgresAddress(text: string): PostgresAddress | null {
  const [, v6, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^[\]:\s]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = v6 ?? name
  const port = digits === undefined ? PORT : Number(digits)
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port }
}
