import { addressOf, DnsFailure, type NameServer, TYPES, textOf } from '@spout/dns'
import type { DnsNameStatus } from '@spout/model'
import { type Clock, done, failed, type Logger, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import { type AddressType, ownedBy, ownerOf } from './ownership.ts'
import { NotOurs, publishAddresses } from './publish-addresses.ts'

/** What a name should be published with. */
export interface WantedName {
  readonly loadBalancerId: string
  readonly projectId: string
  readonly ttlSeconds: number
  /** The public addresses of its load balancer. */
  readonly addresses: readonly string[]
  /** Those of `addresses` that a node announces. */
  readonly announced: ReadonlySet<string>
}

export interface ZonePublisherOptions {
  readonly zone: string
  readonly server: Pick<NameServer, 'query' | 'update' | 'transfer'>
  /** For messages: `127.0.0.1 port 53`. */
  readonly serverText: string
  readonly owner: string
  /** @returns null if no load balancer has the name */
  readonly wanted: (name: string) => WantedName | null
  /** All names of the zone that load balancers have. */
  readonly names: () => Iterable<string>
  readonly sweepMs: number
  readonly clock: Clock
  readonly log: Logger
}

/** The queue's key for a check of the whole zone. No name contains a space. */
const SWEEP = 'whole zone'
const WORKERS = 4
const RETRY = { firstRetryMs: 500, maxRetryMs: 60_000 } as const

/**
 * Publishes the names of one zone. Which records are published is stored nowhere but in the zone: after a start, and
 * periodically, the zone is transferred, and records of ours that no load balancer wants are removed.
 */
export class ZonePublisher {
  readonly zone: string
  readonly #options: ZonePublisherOptions
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #statuses = new Map<string, DnsNameStatus>()
  #sweepFailure: string | null = null

  constructor(options: ZonePublisherOptions) {
    this.zone = options.zone
    this.#options = options
    this.#queue = new WorkQueue({ clock: options.clock, ...RETRY })
    this.#reconciler = new Reconciler({
      name: `dns-${options.zone}`,
      queue: this.#queue,
      log: options.log,
      workers: WORKERS,
      reconcile: (key) => (key === SWEEP ? this.#sweep() : this.#publish(key)),
    })
  }

  start(): void {
    this.#queue.add(SWEEP)
    for (const name of this.#options.names()) this.#queue.add(name)
    this.#reconciler.start()
  }

  stop(): Promise<void> {
    return this.#reconciler.stop()
  }

  /** Queues a name: its load balancers, or the records that it should have, changed. */
  add(name: string): void {
    this.#queue.add(name)
  }

  status(name: string): DnsNameStatus | null {
    return this.#statuses.get(name) ?? null
  }

  statuses(): Iterable<DnsNameStatus> {
    return this.#statuses.values()
  }

  /** Why the last check of the whole zone failed. Null: it did not. */
  get sweepFailure(): string | null {
    return this.#sweepFailure
  }

  async #publish(name: string): Promise<Outcome> {
    const wanted = this.#options.wanted(name)
    try {
      const addresses = [
        ...(await this.#publishType(name, 'A', wanted)),
        ...(await this.#publishType(name, 'AAAA', wanted)),
      ]
      if (wanted === null) this.#statuses.delete(name)
      else this.#statuses.set(name, published(name, addresses, wanted))
      return done
    } catch (error) {
      if (!(error instanceof DnsFailure || error instanceof NotOurs)) throw error
      const [reason, message] =
        error instanceof NotOurs
          ? (['NotOurs', `${error.message}.`] as const)
          : (['NameServer', `The name server of ${this.zone}, ${this.#options.serverText}: ${error.message}.`] as const)
      const addresses = this.#statuses.get(name)?.addresses ?? []
      if (wanted === null) this.#statuses.delete(name)
      else this.#statuses.set(name, { name, state: 'failed', reason, message, addresses })
      return failed(message)
    }
  }

  #publishType(name: string, type: AddressType, wanted: WantedName | null): Promise<readonly string[]> {
    const { zone, server, owner } = this.#options
    const own = wanted?.addresses.filter((address) => typeOf(address) === type) ?? []
    return publishAddresses(
      { server, zone, owner },
      {
        ...{ name, type, ttlSeconds: wanted?.ttlSeconds ?? 0 },
        resource: wanted === null ? '' : `spout/${wanted.projectId}/${wanted.loadBalancerId}`,
        // A published address stays while nobody announces it: that may be for a moment, or nodes have not reported
        // yet.
        addresses: (before) => own.filter((address) => wanted?.announced.has(address) || before.has(address)),
      },
    )
  }

  /** Transfers the zone and queues the names whose records differ from the wanted ones. */
  async #sweep(): Promise<Outcome> {
    const { server, zone, owner, wanted, names, sweepMs } = this.#options
    try {
      const records = await server.transfer(zone)
      const addresses = new Map<string, Set<string>>()
      for (const record of records)
        if (record.type === TYPES.A || record.type === TYPES.AAAA)
          addresses.set(record.name, (addresses.get(record.name) ?? new Set()).add(addressOf(record)))
      const ours = records
        .filter((record) => record.type === TYPES.TXT && ownerOf(textOf(record)) === owner)
        .flatMap((record) => ownedBy(record.name)?.name ?? [])
      for (const name of new Set([...ours, ...names()])) {
        const found = addresses.get(name) ?? new Set()
        const right = wanted(name)?.addresses.filter((address) => found.has(address)) ?? []
        const isMissing = wanted(name)?.announced.isSubsetOf(found) === false
        if (isMissing || right.length === 0 || right.length !== found.size) this.#queue.add(name)
      }
      this.#sweepFailure = null
      return retryAfter(sweepMs)
    } catch (error) {
      if (!(error instanceof DnsFailure)) throw error
      this.#sweepFailure = `zone ${zone} is not transferred by ${this.#options.serverText}: ${error.message}`
      return failed(this.#sweepFailure)
    }
  }
}

const typeOf = (address: string): AddressType => (address.includes(':') ? 'AAAA' : 'A')

function published(name: string, addresses: readonly string[], wanted: WantedName): DnsNameStatus {
  if (addresses.length > 0)
    return {
      name,
      state: 'published',
      reason: 'Published',
      message: `It is published with ${addresses.join(', ')}.`,
      addresses,
    }
  const message =
    wanted.addresses.length === 0
      ? 'The load balancer has no public address, or is disabled.'
      : 'None of its public addresses is announced yet.'
  return { name, state: 'waiting', reason: 'WaitingForAddress', message, addresses }
}
