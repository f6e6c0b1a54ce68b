import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { FastifyInstance } from 'fastify'

/** TLS settings besides the certificate. A new certificate replaces the whole context, so they are given each time. */
export type ServerTls = Pick<SecureContextOptions, 'ca' | 'ciphers' | 'minVersion' | 'secureOptions'>

/** A server's certificate, and how it is renewed. */
export interface ServedCertificate {
  /** The server's TLS context at the start. */
  context(): Promise<SecureContextOptions>
  /** Keeps this server's certificate up to date from now on. */
  keep(app: FastifyInstance): void
  stop(): void
  /** Expiry of the certificate in use; null before there is one. */
  readonly expiresAt: Date | null
  /** Whether there is a newer certificate that cannot be used. */
  readonly isRefused: boolean
}

/** Takes effect at the next handshake. Open connections stay. @throws when OpenSSL refuses it; nothing changed then */
export function takeIntoUse(app: FastifyInstance, context: SecureContextOptions): void {
  createSecureContext(context)
  const { server } = app
  if ('setSecureContext' in server && typeof server.setSecureContext === 'function') server.setSecureContext(context)
}
