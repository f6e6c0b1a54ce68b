import type { DataPlaneDriver, WantedEntry } from '@spout/dataplane'
import type { DriverChoice } from './driver-choice.ts'

/**
 * How many entries drivers prepare without a pause. That takes some milliseconds, by which the kernel's answer may be
 * delayed.
 */
const SLICE = 32

/** Has drivers prepare the entries of the next pass, while the current pass waits for the kernel. */
export class PreparedEntries {
  readonly #choice: DriverChoice
  readonly #drivers: readonly DataPlaneDriver[]
  readonly #byKey = new Map<string, WantedEntry>()

  constructor(choice: DriverChoice) {
    this.#choice = choice
    this.#drivers = choice.drivers.filter((driver) => driver.prepare !== undefined)
  }

  /**
   * Gives drivers the first `most` keys, slice by slice, until `end` is called.
   * @param keys may change meanwhile
   * @param make completes an entry as its pass will; null if that is not known yet
   */
  begin(keys: Iterable<string>, most: number, make: (key: string) => WantedEntry | null): { end(): void } {
    const rest = keys[Symbol.iterator]()
    let left = most
    let next: NodeJS.Immediate | null = null
    const slice = () => {
      const soon: WantedEntry[] = []
      let done: boolean | undefined = left <= 0
      while (!done && soon.length < SLICE) {
        const key = rest.next()
        done = key.done || --left === 0
        const wanted = key.done ? null : make(key.value)
        if (wanted !== null) soon.push(wanted)
      }
      for (const wanted of soon) this.#byKey.set(wanted.key, wanted)
      if (soon.length > 0) this.#tell(soon)
      next = done ? null : setImmediate(slice)
    }
    if (this.#drivers.length > 0) next = setImmediate(slice)
    return { end: () => next !== null && clearImmediate(next) }
  }

  #tell(soon: readonly WantedEntry[]): void {
    for (const driver of this.#drivers)
      driver.prepare?.(soon.filter((wanted) => this.#choice.of(wanted).drivers.has(driver)))
  }

  /** Returns the prepared object if it still equals the wanted entry; otherwise the given one. */
  take(wanted: WantedEntry): WantedEntry {
    const known = this.#byKey.get(wanted.key)
    this.#byKey.delete(wanted.key)
    const same = known?.entry === wanted.entry && known.domain === wanted.domain && known.down === wanted.down
    return same && known.shares === wanted.shares ? known : wanted
  }

  forget(key: string): void {
    this.#byKey.delete(key)
  }
}
