import type { Secret } from '@spout/runtime'

/** One PostgreSQL server. */
export interface PostgresAddress {
  /** A name, an address, or the directory of a UNIX socket. */
  readonly host: string
  readonly port: number
}

/** How to reach a database. */
export interface PostgresSettings {
  /** A server, and those that may take over from it. They are tried in turn until one accepts writes. */
  readonly servers: readonly PostgresAddress[]
  readonly database: string
  readonly user: string
  /** Asked at every connect, so that the password may change; null for none. */
  readonly password: () => Promise<Secret<string> | null>
  /** Null: plain text. Otherwise the server's certificate must be for its host name, and of these authorities. */
  readonly tls: {
    /** PEM; undefined: those of the system. */
    readonly ca: string | undefined
  } | null
}

export const textOf = ({ host, port }: PostgresAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
