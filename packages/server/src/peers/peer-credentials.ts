import type { Clock, Component, Logger, Timer } from '@spout/runtime'
import type { CertificateAuthority, Credentials } from '../link/certificate-authority.ts'

const RENEWAL_MS = 24 * 3_600_000

export interface PeerCredentialsOptions {
  readonly authority: CertificateAuthority
  /** Name or address at which the other control planes reach this one. */
  readonly host: string
  readonly clock: Clock
  readonly log: Logger
}

/**
 * How a control plane shows the others that it is one: a certificate of the authority that they share, renewed each day.
 * Nobody else has one of this kind: nodes are issued other names, and clients none at all.
 */
export class PeerCredentials implements Component {
  readonly name = 'peer-credentials'
  readonly #options: PeerCredentialsOptions
  #current: Credentials | null = null
  #renewal: Timer | null = null
  #onRenewed: () => void = () => {}

  constructor(options: PeerCredentialsOptions) {
    this.#options = options
  }

  /** PEM: the authority that issues the certificates of all. */
  get ca(): string {
    return this.#options.authority.certificate
  }

  /** Those of the moment. @throws Error before the start */
  get current(): Credentials {
    if (this.#current === null) throw new Error('this control plane has no certificate for the others yet')
    return this.#current
  }

  /** @param listener called after each renewal */
  onRenewed(listener: () => void): void {
    this.#onRenewed = listener
  }

  async start(): Promise<void> {
    await this.#issue()
    this.#renewLater()
  }

  stop(): void {
    this.#renewal?.clear()
  }

  async #issue(): Promise<void> {
    this.#current = await this.#options.authority.issueControlPlane(this.#options.host)
  }

  #renewLater(): void {
    this.#renewal = this.#options.clock.setTimer(() => void this.#renew().then(() => this.#renewLater()), RENEWAL_MS)
  }

  async #renew(): Promise<void> {
    try {
      await this.#issue()
      this.#onRenewed()
    } catch (error) {
      const message = 'the certificate was not renewed; will try again'
      this.#options.log.error({ event: 'certificate-renewal-failed', err: error }, message)
    }
  }
}
