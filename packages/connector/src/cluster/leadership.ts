import { KubeClient, LeaderElector, type Transport } from '@spout/kube'
import type { Component, Logger } from '@spout/runtime'

export interface LeadershipOptions {
  /** Started once this process leads. */
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
  /**
   * Called when another process may lead. The caller must end this process, because work in progress cannot be undone.
   */
  readonly onLost: (reason: string) => void
}

/** Fractions of the lease's duration: 10 s and 2 s of 15 s, as in Kubernetes' own controllers. */
const RENEW_DEADLINE = 2 / 3
const RETRY = 2 / 15

/**
 * Starts the work once this process leads. Started work is never paused: it stops when the process stops, and then the
 * lease is released.
 */
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
