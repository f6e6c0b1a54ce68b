import { secret } from '@spout/runtime/config'
import { isLoopback } from '@spout/runtime/loopback'
import { parsePostgresAddress } from '@spout/store'
import { z } from 'zod'
import { section } from './section.ts'

/** Whether it is on this machine. */
function isLocal(text: string): boolean {
  const { host = '' } = parsePostgresAddress(text) ?? {}
  return host.startsWith('/') || isLoopback(host)
}

const postgres = section({
  /**
   * The server, and those that may take over from it, such as `db1.example:5432` or `/run/postgresql`. They are tried in
   * turn until one accepts writes.
   */
  servers: z
    .array(
      z.string().refine((text) => parsePostgresAddress(text) !== null, {
        error: 'is no server: host, host:port, [IPv6]:port, or the directory of a UNIX socket',
      }),
    )
    .max(16)
    .default([]),
  database: z.string().min(1).max(63).default('spout'),
  user: z.string().min(1).max(63).default('spout'),
  password: secret.optional(),
  /** A file with it in one line, read at every connect. */
  passwordFile: z.string().default(''),
  /** Over TCP. The certificate must be for the server's name. */
  tls: z.boolean().default(true),
  /** PEM: the authorities that the certificate may be from. Empty: those of the system. */
  caFile: z.string().default(''),
  /** Allows plain text to a server on another machine. */
  plainBeyondLoopback: z.boolean().default(false),
})
  .refine(({ password, passwordFile }) => password === undefined || passwordFile === '', {
    path: ['passwordFile'],
    error: 'and store.postgres.password exclude each other: set one of them',
  })
  .refine(({ servers, tls, plainBeyondLoopback }) => tls || plainBeyondLoopback || servers.every(isLocal), {
    path: ['tls'],
    error:
      'is off, and a server is another machine: all that is stored would be readable on the way; use it, or set store.postgres.plainBeyondLoopback',
  })

export const storeSection = section({
  engine: z.enum(['sqlite', 'postgres', 'memory']).default('sqlite'),
  /** The database of the engine `postgres`. */
  postgres: postgres.prefault({}),
})
  .refine(({ engine, postgres: { servers } }) => engine !== 'postgres' || servers.length > 0, {
    path: ['postgres', 'servers'],
    error: 'are needed with store.engine postgres',
  })
  .prefault({})
