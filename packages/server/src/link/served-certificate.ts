import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { FastifyInstance } from 'fastify'

/** What a server promises beside its certificate. A new certificate replaces the whole context, so it is said again each time. */
export type ServerTls = Pick<SecureContextOptions, 'ca' | 'ciphers' | 'minVersion' | 'secureOptions'>

/** Where the certificate of a server comes from, and how it is kept from expiring. */
export interface ServedCertificate {
  /** All that a server's TLS is made of at its start. */
  context(): Promise<SecureContextOptions>
  /** Sees to it from now on that this server's next handshakes show the newest one. */
  keep(app: FastifyInstance): void
  stop(): void
  /** Of the one in force; null before there is one. */
  readonly expiresAt: Date | null
  /** Whether there is a newer one that cannot be used. */
  readonly isRefused: boolean
}

/** From the next handshake on; connections that are open go on. @throws when OpenSSL does not take it: nothing changed then */
export function takeIntoUse(app: FastifyInstance, context: SecureContextOptions): void {
  createSecureContext(context)
  const { server } = app
  if ('setSecureContext' in server && typeof server.setSecureContext === 'function') server.setSecureContext(context)
}
