import { X509Certificate } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'
import type { Clock, Logger, Timer } from '@spout/runtime'
import type { FastifyInstance } from 'fastify'
import type { CertificateAuthority } from './certificate-authority.ts'
import { type ServedCertificate, type ServerTls, takeIntoUse } from './served-certificate.ts'

const RENEWAL_MS = 24 * 3_600_000

export interface ServerCertificateOptions {
  readonly authority: CertificateAuthority
  /** Names and addresses that it is issued for. */
  readonly hosts: readonly string[]
  readonly tls: ServerTls
  readonly clock: Clock
  readonly log: Logger
}

/** A server's certificate from our own authority, renewed each day without losing a connection. */
export class ServerCertificate implements ServedCertificate {
  readonly #options: ServerCertificateOptions
  #renewal: Timer | null = null
  #expiresAt: Date | null = null
  #isRefused = false

  constructor(options: ServerCertificateOptions) {
    this.#options = options
  }

  get expiresAt(): Date | null {
    return this.#expiresAt
  }

  /** Whether the last renewal failed. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** The server's TLS context, with a new certificate. */
  async context(): Promise<SecureContextOptions> {
    const { authority, hosts, tls } = this.#options
    const { key, certificate } = await authority.issueServer(hosts)
    this.#expiresAt = new X509Certificate(certificate).validToDate
    return { ...tls, key, cert: certificate }
  }

  /** Renews the certificate on this server from now on. */
  keep(app: FastifyInstance): void {
    const { clock, log } = this.#options
    this.#renewal = clock.setTimer(() => {
      const renew = async () => {
        try {
          takeIntoUse(app, await this.context())
          this.#isRefused = false
        } catch (error) {
          this.#isRefused = true
          log.error(
            { event: 'certificate-renewal-failed', err: error },
            'the certificate was not renewed; will try again',
          )
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
