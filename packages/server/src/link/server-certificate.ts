import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Clock, Logger, Timer } from '@spout/runtime'
import type { FastifyInstance } from 'fastify'
import type { CertificateAuthority } from './certificate-authority.ts'

const RENEWAL_MS = 24 * 3_600_000

export interface ServerCertificateOptions {
  readonly authority: CertificateAuthority
  /** Names and addresses that it is good for. */
  readonly hosts: readonly string[]
  /** What the server promises beside its certificate. A renewal replaces the whole context, so it is said again each time. */
  readonly tls: Pick<SecureContextOptions, 'ca' | 'ciphers' | 'minVersion' | 'secureOptions'>
  readonly clock: Clock
  readonly log: Logger
}

/** The certificate of a server of ours, from our own authority: made anew each day, without a connection lost. */
export class ServerCertificate {
  readonly #options: ServerCertificateOptions
  #renewal: Timer | null = null

  constructor(options: ServerCertificateOptions) {
    this.#options = options
  }

  /** All that a server's TLS is made of, with a new certificate. */
  async context(): Promise<SecureContextOptions> {
    const { authority, hosts, tls } = this.#options
    const { key, certificate } = await authority.issueServer(hosts)
    return { ...tls, key, cert: certificate }
  }

  /** Renews it on this server from now on. */
  keep(app: FastifyInstance): void {
    const { clock, log } = this.#options
    this.#renewal = clock.setTimer(() => {
      const renew = async () => {
        try {
          const context = await this.context()
          // Checked before it is taken into use.
          createSecureContext(context)
          const { server } = app
          if ('setSecureContext' in server && typeof server.setSecureContext === 'function')
            server.setSecureContext(context)
        } catch (error) {
          log.error({ event: 'certificate-renewal-failed', err: error }, 'will try again')
        }
        this.keep(app)
      }
      void renew()
    }, RENEWAL_MS)
  }

  stop(): void {
    this.#renewal?.clear()
  }
}
