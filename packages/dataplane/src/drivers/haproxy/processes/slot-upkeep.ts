import type { Mutex, Timer } from '@spout/runtime'
import type { Log } from '@spout/sys'
import { unusedByServers } from '../certificates/plan-tls-changes.ts'
import type { Command } from '../commands/command.ts'
import { returnsClients } from '../sections/shape.ts'
import { restartWith } from './change-entries.ts'
import type { CurrentProxy, CurrentProxyOptions } from './current-proxy.ts'
import { LookTimes } from './look-times.ts'
import { growScarce } from './proxy-slots.ts'

export interface SlotUpkeepOptions extends CurrentProxyOptions {
  readonly log: Log
}

/** Background work on slots: adds slots before they are lacking, and removes content of released ones. */
export class SlotUpkeep {
  readonly #current: CurrentProxy
  readonly #mutex: Mutex
  readonly #given: SlotUpkeepOptions
  #timer: Timer | null = null
  /** Set once for each change: failed growth is not repeated again and again. */
  #mayGrow = false
  readonly #times: LookTimes
  #sampledAtMs = 0

  constructor(given: SlotUpkeepOptions, current: CurrentProxy, mutex: Mutex) {
    this.#given = given
    this.#current = current
    this.#mutex = mutex
    this.#times = new LookTimes(given.options.sweepEveryMs)
  }

  /** Slots were assigned or released. */
  due(): void {
    if (this.#times.isLate) {
      this.#timer?.clear()
      this.#timer = null
    }
    this.#times.restart()
    this.#mayGrow = true
    this.#lookLater()
  }

  close(): void {
    this.#timer?.clear()
  }

  #lookLater(): void {
    const { assignments, drains, closed } = this.#current
    const { frontends, backends } = assignments.slots
    const slots = frontends.cooling().length + backends.cooling().length
    if ((drains.size + slots + this.#unused().length === 0 && !this.#isGrowthDue()) || closed || this.#timer !== null)
      return
    const { clock, log, place } = this.#given
    const left = { endsInMs: drains.endsInMs, slots }
    this.#timer = clock.setTimer(() => {
      this.#timer = null
      this.#times.made(left)
      const look = this.#mutex.run(async () => {
        await this.#sweep().catch((error) =>
          log.debug({ proxy: place.name, error: String(error) }, 'released slots could not be swept'),
        )
        // Released slots are usually free now, so that no reload is needed for more.
        await this.#grow().catch((error) =>
          log.warn({ proxy: place.name, error: String(error) }, 'the number of slots could not be increased'),
        )
      })
      look.finally(() => this.#lookLater()).catch(() => {})
    }, this.#times.nextInMs(left))
  }

  #isGrowthDue(): boolean {
    const { frontends, backends } = this.#current.assignments.slots
    return this.#mayGrow && frontends.scarce().length + backends.scarce().length > 0
  }

  /** Adds slots where few are free. */
  async #grow(): Promise<void> {
    const { assignments, running, closed } = this.#current
    if (closed || running === null || !this.#isGrowthDue()) return
    this.#mayGrow = false
    const { revision, slots } = assignments
    growScarce(slots)
    if (assignments.revision !== revision) await restartWith(this.#current, [])
  }

  /** Deletes unused servers and frees empty slots. */
  async #sweep(): Promise<void> {
    const { running, drains, closed } = this.#current
    if (running === null || closed) return
    const { frontends, backends } = this.#current.assignments.slots
    const due = drains.due((slot) => returnsClients(backends.shapeOwnedAt(slot)))
    if (due.length > 0) drains.follow(due, await running.execute(due))
    // Draining servers still use their files, and HAProxy would delete a file of authorities in use.
    const unused = drains.size === 0 ? this.#unused() : []
    if (unused.length > 0) await running.execute(unused)
    const cooling = this.#maySample() ? frontends.cooling() : []
    const counters = cooling.length > 0 ? await this.#current.sample() : null
    const empty = cooling.filter(({ id }) => (counters?.get(id)?.current ?? 0) === 0)
    for (const { id } of empty) frontends.reclaim(id)
    const emptied = backends.cooling().filter(({ id }) => !running.content.backends.has(id))
    await this.#current.countAnew(emptied.map(({ id }) => id))
    for (const { id } of emptied) backends.reclaim(id)
    if (empty.length + emptied.length > 0) await this.#current.confirm()
  }

  /** Counters of all frontends cost the process a walk over them. */
  #maySample(): boolean {
    const { clock, options } = this.#given
    const now = clock.monotonicMs()
    if (now - this.#sampledAtMs < options.sweepEveryMs) return false
    this.#sampledAtMs = now
    return true
  }

  /** Deletes certificates and authorities that no server uses or will use. */
  #unused(): readonly Command[] {
    const { assignments, running } = this.#current
    if (running === null) return []
    return unusedByServers(
      running.content.tls,
      assignments.placed.flatMap(({ backends }) => backends),
    )
  }
}
