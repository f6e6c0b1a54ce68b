import { randomUUID } from 'node:crypto'
import { type Clock, type Component, type Logger, pause, type Random, systemClock, type Timer } from '@spout/runtime'
import { isAlreadyExists, isConflict } from '../transport/errors.ts'
import { LEASES, type Lease, type LeaseSpec } from '../types/index.ts'
import type { KubeClient } from '../write/kube-client.ts'
import { microTime } from './micro-time.ts'

export type LossReason =
  /** The lease could not be renewed in time. */
  | 'deadline'
  /** Another process holds the lease. */
  | 'taken'
  /** `stop` was called. */
  | 'released'

export interface LeaderElectorOptions {
  readonly client: KubeClient
  readonly namespace: string
  readonly name: string
  /** Our name, for people. A random part is added, so that each elector has its own. */
  readonly identity: string
  readonly log: Logger
  /** Starts the work. Important writes carry the token, and their store refuses a token lower than one it has seen. */
  readonly onGained: (token: number) => void
  /** Must end the work before it returns. It is called before another process can hold the lease. */
  readonly onLost: (reason: LossReason) => void
  /**
   * The highest token that is known to have been used, for example from the store. It matters when the Lease was
   * deleted.
   */
  readonly lowestToken?: number
  /** Whole seconds. Other processes wait this long after the last renewal that they have seen. */
  readonly leaseSeconds?: number
  /** Leadership ends this long after the last answered renewal was sent. Must be below `leaseSeconds`. */
  readonly renewDeadlineMs?: number
  /** Time between attempts to renew or to acquire. */
  readonly retryMs?: number
  readonly clock?: Clock
  readonly random?: Random
}

/** The version of another holder's Lease that we saw last. */
interface Observed {
  readonly version: string
  /** Local time at which this version was first seen. */
  readonly sinceMs: number
}

/**
 * Elects one leader among processes with a Lease. The fencing token is leaseTransitions, which grows with each change
 * of the holder. Only durations on the local monotonic clock are used, so clocks of different machines need not agree.
 */
export class LeaderElector implements Component {
  readonly name: string
  readonly holderIdentity: string
  readonly #options: LeaderElectorOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #leaseSeconds: number
  readonly #renewDeadlineMs: number
  readonly #retryMs: number
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null
  #observed: Observed | null = null
  #term: { readonly token: number; lease: Lease; validUntilMs: number; timer: Timer } | null = null
  #highestToken: number

  /** @throws Error when the durations contradict each other */
  constructor(options: LeaderElectorOptions) {
    const { leaseSeconds = 15, renewDeadlineMs = 10_000, retryMs = 2000 } = options
    if (!Number.isSafeInteger(leaseSeconds) || leaseSeconds < 1)
      throw new Error(`leaseSeconds: ${leaseSeconds} is not a whole number above 0`)
    if (renewDeadlineMs >= leaseSeconds * 1000) throw new Error('renewDeadlineMs: must be below leaseSeconds')
    if (retryMs * 1.5 > renewDeadlineMs) throw new Error('retryMs: leaves no time for a second attempt')
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#leaseSeconds = leaseSeconds
    this.#renewDeadlineMs = renewDeadlineMs
    this.#retryMs = retryMs
    this.#highestToken = options.lowestToken ?? 0
    this.name = `leader-elector ${options.namespace}/${options.name}`
    this.holderIdentity = `${options.identity}_${randomUUID()}`
  }

  /**
   * The token while we lead, else null. It checks the clock: a process that was suspended is no leader when it wakes
   * up.
   */
  get token(): number | null {
    const term = this.#term
    return term !== null && this.#clock.monotonicMs() < term.validUntilMs ? term.token : null
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends the work first, then releases the lease, so that another process can take it at once. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const lease = this.#term?.lease ?? null
    this.#lose('released')
    await this.#running
    if (lease !== null) await this.#release(lease)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await (this.#term === null ? this.#tryToGain() : this.#renew(this.#term.lease))
      } catch (error) {
        if (signal.aborted) return
        this.#log('warn', 'lease-attempt-failed', { reason: (error as Error).message, leading: this.#term !== null })
      }
      // Waiting processes wait up to a fifth longer, so that they do not all ask at once. A leader never does.
      const spread = this.#term === null ? 1 + this.#random() / 5 : 1
      await pause(this.#clock, this.#retryMs * spread, signal)
    }
  }

  async #tryToGain(): Promise<void> {
    const sentMs = this.#clock.monotonicMs()
    const lease = await this.#read()
    if (lease === null) return this.#create(sentMs)
    const { resourceVersion = '' } = lease.metadata
    const { holderIdentity = '', leaseDurationSeconds = this.#leaseSeconds, leaseTransitions = 0 } = lease.spec ?? {}
    this.#highestToken = Math.max(this.#highestToken, leaseTransitions)
    const nowMs = this.#clock.monotonicMs()
    if (this.#observed?.version !== resourceVersion) this.#observed = { version: resourceVersion, sinceMs: nowMs }
    // It may be ours from an earlier term, because nobody else has this identity.
    const free = holderIdentity === '' || holderIdentity === this.holderIdentity
    const waitedMs = nowMs - this.#observed.sinceMs
    if (!free && waitedMs < Math.max(leaseDurationSeconds, this.#leaseSeconds) * 1000) return
    const token = this.#highestToken + 1
    const now = microTime(this.#clock.now())
    const taken = { ...lease, spec: { ...lease.spec, ...this.#spec(now, token), acquireTime: now } }
    await this.#write(taken, (answer, writtenMs) => this.#gain(answer, token, writtenMs))
  }

  async #create(sentMs: number): Promise<void> {
    const { client, namespace, name } = this.#options
    // A new Lease must not reuse tokens.
    const token = this.#highestToken + 1
    const now = microTime(this.#clock.now())
    const metadata = { namespace, name }
    try {
      const lease = { metadata, spec: { ...this.#spec(now, token), acquireTime: now } }
      this.#gain(await client.create(LEASES, lease, this.#stopping.signal), token, sentMs)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }

  async #renew(lease: Lease): Promise<void> {
    const spec = { ...lease.spec, ...this.#spec(microTime(this.#clock.now()), this.#term?.token ?? 0) }
    await this.#write({ ...lease, spec }, (answer, sentMs) => {
      if (this.#term !== null) this.#extend(answer, sentMs)
    })
  }

  #spec(renewTime: string, leaseTransitions: number): LeaseSpec {
    return {
      holderIdentity: this.holderIdentity,
      leaseDurationSeconds: this.#leaseSeconds,
      renewTime,
      leaseTransitions,
    }
  }

  /** Writes to the version that was read. A conflict may be our own write whose answer was lost. */
  async #write(lease: Lease, onWritten: (answer: Lease, sentMs: number) => void): Promise<void> {
    const { client } = this.#options
    const { signal } = this.#stopping
    const sentMs = this.#clock.monotonicMs()
    try {
      const answer = await client.replace(LEASES, lease, { retry: false, deadlineMs: this.#retryMs, signal })
      if (answer === null) this.#lose('taken')
      else if (!signal.aborted) onWritten(answer, sentMs)
    } catch (error) {
      if (!isConflict(error)) throw error
      const now = await this.#read()
      if (this.#term === null || signal.aborted) return
      if (now?.spec?.holderIdentity !== this.holderIdentity) this.#lose('taken')
      // Our write arrived, but not counted as a renewal, because we do not know when.
      else this.#term.lease = now
    }
  }

  #gain(lease: Lease, token: number, sentMs: number): void {
    if (this.#stopping.signal.aborted) return
    this.#highestToken = token
    this.#observed = null
    this.#term = { token, lease, validUntilMs: 0, timer: { clear: () => {} } }
    this.#extend(lease, sentMs)
    // The answer may have come after the end of the term. Then `#extend` has ended it.
    if (this.#term === null) return
    this.#log('info', 'leader', { token })
    this.#options.onGained(token)
  }

  #extend(lease: Lease, sentMs: number): void {
    const term = this.#term
    if (term === null) return
    term.lease = lease
    term.timer.clear()
    term.validUntilMs = sentMs + this.#renewDeadlineMs
    const leftMs = term.validUntilMs - this.#clock.monotonicMs()
    if (leftMs <= 0) this.#lose('deadline')
    else term.timer = this.#clock.setTimer(() => this.#lose('deadline'), leftMs)
  }

  #lose(reason: LossReason): void {
    const term = this.#term
    if (term === null) return
    term.timer.clear()
    this.#term = null
    this.#log(reason === 'released' ? 'info' : 'error', 'leader-lost', { token: term.token, reason })
    this.#options.onLost(reason)
  }

  #read(signal: AbortSignal = this.#stopping.signal): Promise<Lease | null> {
    const { client, namespace, name } = this.#options
    return client.get(LEASES, { namespace, name }, { deadlineMs: this.#retryMs, signal })
  }

  /** Best effort: without it the lease expires by itself. */
  async #release(lease: Lease): Promise<void> {
    const { client } = this.#options
    const now = microTime(this.#clock.now())
    const free = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now }
    const write = (of: Lease) =>
      client.replace(LEASES, { ...of, spec: { ...of.spec, ...free } }, { retry: false, deadlineMs: this.#retryMs })
    try {
      try {
        await write(lease)
      } catch (error) {
        if (!isConflict(error)) throw error
        // The renewal that was under way at the stop has arrived.
        const current = await this.#read(new AbortController().signal)
        if (current?.spec?.holderIdentity === this.holderIdentity) await write(current)
      }
    } catch (error) {
      this.#log('warn', 'lease-not-released', { reason: (error as Error).message })
    }
  }

  #log(level: 'info' | 'warn' | 'error', event: string, fields: object): void {
    const { namespace, name, log } = this.#options
    log[level]({ event, lease: `${namespace}/${name}`, holder: this.holderIdentity, ...fields }, event)
  }
}
