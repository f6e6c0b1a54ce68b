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

const dnsLabel = (most: number) =>
  z.string().regex(new RegExp(`^[a-z0-9]([-a-z0-9]{0,${most - 2}}[a-z0-9])?$`), 'is no name of a Kubernetes object')

const kubernetes = section({
  /** The namespace of the records. Empty: that of the pod, or of the kubeconfig. */
  namespace: dnsLabel(63).or(z.literal('')).default(''),
  /** The records' names begin with it, so that a namespace can hold several stores. */
  name: dnsLabel(40).default('spout'),
  /** How to reach the API server. Empty: with the service account of the pod. */
  kubeconfigFile: z.string().default(''),
  /**
   * An existing Secret of that namespace, for the keys and the first password that are else in the state directory alone.
   * The first start fills it. Empty: none.
   */
  keysSecret: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, 'is no name of a Kubernetes object')
    .or(z.literal(''))
    .default(''),
})

export const storeSection = section({
  engine: z.enum(['sqlite', 'postgres', 'kubernetes', 'memory']).default('sqlite'),
  /** The database of the engine `postgres`. */
  postgres: postgres.prefault({}),
  /** Where the records of the engine `kubernetes` are. */
  kubernetes: kubernetes.prefault({}),
})
  .refine(({ engine, postgres: { servers } }) => engine !== 'postgres' || servers.length > 0, {
    path: ['postgres', 'servers'],
    error: 'are needed with store.engine postgres',
  })
  .prefault({})
