import { KubeClient, LeaderElector, type Transport } from '@spout/kube'
import type { Component, Logger } from '@spout/runtime'

export interface LeadershipOptions {
  /** Starts once this process leads. */
  readonly work: { start(): void; stop(): Promise<void> }
  /** Null: this process leads at once, without a lease. */
  readonly lease: {
    readonly transport: Transport
    readonly namespace: string
    readonly name: string
    readonly seconds: number
  } | null
  readonly identity: string
  readonly log: Logger
  /** Another process may lead now, and work in progress cannot be called back: this process must end. */
  readonly onLost: (reason: string) => void
}

/** Fractions of the duration of the lease, the same as in Kubernetes' own controllers. */
const RENEW_DEADLINE = 2 / 3
const RETRY = 2 / 15

/** Starts the work once this process leads. Started work ends with the process, or before the lease is released. */
export class Leadership implements Component {
  readonly name = 'leadership'
  readonly #options: LeadershipOptions
  readonly #elector: LeaderElector | null

  constructor(options: LeadershipOptions) {
    this.#options = options
    const { lease, work, identity, log, onLost } = options
    this.#elector =
      lease === null
        ? null
        : new LeaderElector({
            client: new KubeClient(lease.transport),
            namespace: lease.namespace,
            name: lease.name,
            leaseSeconds: lease.seconds,
            renewDeadlineMs: lease.seconds * 1000 * RENEW_DEADLINE,
            retryMs: lease.seconds * 1000 * RETRY,
            identity,
            log,
            onGained: () => work.start(),
            onLost: (reason) => {
              if (reason !== 'released') onLost(reason)
            },
          })
  }

  get leads(): boolean {
    return this.#elector === null || this.#elector.token !== null
  }

  start(): void {
    if (this.#elector === null) this.#options.work.start()
    else this.#elector.start()
  }

  async stop(): Promise<void> {
    await this.#options.work.stop()
    await this.#elector?.stop()
  }
}
