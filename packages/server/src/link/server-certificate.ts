import { createSecureContext } from 'node:tls'
import type { Clock, Logger, Timer } from '@spout/runtime'
import type { FastifyInstance } from 'fastify'
import type { CertificateAuthority, Credentials } from './certificate-authority.ts'

const RENEWAL_MS = 24 * 3_600_000

export interface ServerCertificateOptions {
  readonly authority: CertificateAuthority
  /** Names and addresses that it is good for. */
  readonly hosts: readonly string[]
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

  issue(): Promise<Credentials> {
    return this.#options.authority.issueServer(this.#options.hosts)
  }

  /** Renews it on this server from now on. */
  keep(app: FastifyInstance): void {
    const { authority, clock, log } = this.#options
    this.#renewal = clock.setTimer(() => {
      const renew = async () => {
        try {
          const { key, certificate } = await this.issue()
          // Checked before it is taken into use.
          createSecureContext({ key, cert: certificate })
          const { server } = app
          if ('setSecureContext' in server && typeof server.setSecureContext === 'function')
            server.setSecureContext({ key, cert: certificate, ca: authority.certificate, minVersion: 'TLSv1.3' })
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
