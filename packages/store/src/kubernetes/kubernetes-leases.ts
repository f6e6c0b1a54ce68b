import { createHash, randomUUID } from 'node:crypto'
import { type Clock, Mutex } from '@spout/runtime'
import type { Lease, LeaseClaim, Leases } from '../leases/leases.ts'
import { refused } from '../refused.ts'
import type { LeaseRow } from './entry.ts'
import { packed, unpacked } from './packed.ts'
import type { StoreRecord } from './record.ts'
import { isTaken, type Records } from './records.ts'

/** The part of the log that leases need. */
export interface LeaseLog {
  /** Who has it, as far as is known here. */
  lease(name: string): LeaseRow | null
  /** Orders a change of hands among the commits. @returns false when the lease is not as `from` any more */
  hand(from: LeaseRow | null, to: LeaseRow): Promise<boolean>
  /** Resolves when everything is known that was stored before the call. */
  catchUp(): Promise<void>
}

export interface KubernetesLeasesOptions {
  readonly storeId: string
  readonly records: Records
  readonly log: LeaseLog
  readonly clock: Clock
  /** The server did not answer, or refused. */
  readonly onFailure: (reason: string) => void
}

/** The part of a lease's time that a write of its sign may take: shorter than the lease lasts. */
const SIGN_SHARE = 0.8

/** What the holder of a lease writes now and then. */
interface Sign {
  readonly name: string
  readonly holder: string
  readonly ttlMs: number
}

/** A sign of life, as this process saw it. */
interface SeenSign extends Sign {
  readonly number: number
  readonly version: string
  /** When this process saw it (`monotonicMs`): no two clocks are compared. */
  readonly seenMs: number
}

/**
 * Who has a lease is an entry of the log, so it is ordered among the commits, and a commit under a lease that was lost is
 * refused by whichever process. That the holder lives is a record which it replaces: a renewal is no entry, and wakes no
 * watch of the store.
 */
export class KubernetesLeases implements Leases {
  /** The id of the store, which keeps the tokens. */
  readonly keptIn: string
  readonly #options: KubernetesLeasesOptions
  readonly #signs = new Map<string, SeenSign>()
  /** A claim looks, and then writes. */
  readonly #turns = new Mutex()

  constructor(options: KubernetesLeasesOptions) {
    this.keptIn = options.storeId
    this.#options = options
  }

  /** Takes in a sign that is stored, whoever wrote it. */
  async note(record: StoreRecord): Promise<void> {
    const sign = await signOf(record)
    const known = this.#signs.get(sign.name)
    if (known === undefined || known.number < record.spec.number) this.#see(sign, record)
  }

  claim(claim: LeaseClaim): Promise<Lease> {
    return this.#turns.run(() => this.#claim(claim))
  }

  async release(lease: Lease): Promise<void> {
    const held = this.#options.log.lease(lease.name)
    if (held?.holder === lease.holder && held.token === lease.token)
      await this.#options.log.hand(held, { ...held, holder: null })
  }

  async #claim({ name, holder, ttlMs }: LeaseClaim): Promise<Lease> {
    const { log } = this.#options
    for (;;) {
      const held = log.lease(name)
      if (held !== null && held.holder !== null && held.holder !== holder && this.#isFresh(name))
        return { name, holder: held.holder, token: held.token }
      const isOwn = this.#signs.get(name)?.holder === holder
      const sign = await this.#sign({ name, holder, ttlMs })
      if (sign === null) continue
      const token = held?.holder === holder ? held.token : (held?.token ?? 0) + 1
      const lease = { name, holder, token }
      // Nobody has replaced our last sign, so nobody is about to take the lease.
      if (held?.holder === holder && isOwn) return lease
      // Another may be at the same. The log says who was first, and the later one has to look again.
      if (await log.hand(held, { ...lease, sign })) return lease
    }
  }

  /** Whether somebody wrote a sign of late. */
  #isFresh(name: string): boolean {
    const sign = this.#signs.get(name)
    return sign !== undefined && this.#options.clock.monotonicMs() - sign.seenMs < sign.ttlMs
  }

  /** Replaces the sign that was seen. @returns its number; null when there is another: then that is known, and so is the log */
  async #sign(sign: Sign): Promise<number | null> {
    const { records, log } = this.#options
    const known = this.#signs.get(sign.name)
    const number = (known?.number ?? 0) + 1
    const key = createHash('sha256').update(sign.name).digest('hex').slice(0, 16)
    try {
      const content = { number, id: randomUUID(), data: packed(sign) }
      // Sent again although it was carried out, it is refused as taken.
      const how = { deadlineMs: sign.ttlMs * SIGN_SHARE, idempotent: true }
      this.#see(sign, await records.put('lease', key, content, known?.version ?? null, how))
      return number
    } catch (error) {
      if (!isTaken(error)) throw this.#unanswered(error)
    }
    try {
      const there = await records.get('lease', key)
      if (there === null) this.#signs.delete(sign.name)
      else this.#see(await signOf(there), there)
      await log.catchUp()
    } catch (error) {
      throw this.#unanswered(error)
    }
    return null
  }

  #see(sign: Sign, { metadata, spec }: StoreRecord): void {
    const { resourceVersion: version = '' } = metadata
    this.#signs.set(sign.name, { ...sign, number: spec.number, version, seenMs: this.#options.clock.monotonicMs() })
  }

  #unanswered(error: unknown): Error {
    const { message } = error as Error
    this.#options.onFailure(message)
    return refused(message, error)
  }
}

const signOf = async ({ spec }: StoreRecord): Promise<Sign> => (await unpacked(spec.data)) as Sign
