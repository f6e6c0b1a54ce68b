import { isUnsent } from '@spout/kube'
import type { RecordContent, StoreRecord } from './record.ts'
import { isRefusal, isTaken, type Records } from './records.ts'

/** How to go on after a request that was not answered. */
export interface Unanswered {
  /**
   * Resolves when the server answers again, and still has what this process knows.
   * @param mayBeStored whether the entry was sent and not refused
   * @throws when that is not to be expected any more
   */
  readonly again: (error: Error, mayBeStored: boolean) => Promise<void>
}

interface Present {
  readonly number: number
  readonly id: string
  readonly version: string
}

/**
 * The places of the log: a ring of records that are created once and then replaced, never deleted. Entry N is in place N
 * modulo their number, and replaces exactly the entry that was there one round before. So of all processes one gets a
 * place, and one that stood still for however long gets none: what it would replace is not there any more.
 */
export class Slots {
  readonly #records: Records
  readonly #count: number
  /** What is in each place, as far as is known. */
  readonly #present = new Map<number, Present>()

  constructor(records: Records, count: number) {
    this.#records = records
    this.#count = count
  }

  get count(): number {
    return this.#count
  }

  /** Notes what is in a place. */
  note({ metadata, spec: { number, id } }: StoreRecord): void {
    const place = number % this.#count
    const known = this.#present.get(place)
    // An answer may come later than a newer one.
    if (known !== undefined && known.number > number) return
    this.#present.set(place, { number, id, version: metadata.resourceVersion ?? '' })
  }

  /** What is in the place of an entry: that entry, an earlier or a later one, or null for none. */
  async read(number: number): Promise<StoreRecord | null> {
    const record = await this.#records.get('slot', this.#key(number))
    if (record !== null) this.note(record)
    return record
  }

  /**
   * Puts an entry into its place. A request whose answer was lost is repeated, which is harmless: of all that are still
   * under way, at most one can replace what was there.
   * @returns false when another process has the place
   * @throws KubeError, KubeUnreachable: the entry is not in the log, and will not be; or what `again` throws
   */
  async append(content: RecordContent, { again }: Unanswered): Promise<boolean> {
    const { number, id } = content
    for (let isSure = true; ; ) {
      try {
        const there = this.#present.get(number % this.#count)
        // Heard of, and perhaps not taken in yet: what is to be replaced is the entry of one round before, and no other.
        if (there !== undefined && there.number >= number) return there.number === number && there.id === id
        this.note(await this.#records.put('slot', this.#key(number), content, there?.version ?? null))
      } catch (error) {
        if (isTaken(error)) await this.#look(number, (failure) => again(failure, !isSure))
        else if (isSure && (isUnsent(error) || isRefusal(error))) throw error
        else {
          isSure = false
          await again(error as Error, true)
        }
      }
    }
  }

  /** Notes what is in the place of an entry, however long the server is away. */
  async #look(number: number, again: (error: Error) => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await this.read(number)
        return
      } catch (error) {
        await again(error as Error)
      }
    }
  }

  #key(number: number): string {
    return String(number % this.#count).padStart(4, '0')
  }
}
