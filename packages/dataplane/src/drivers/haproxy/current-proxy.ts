import type { Clock } from '@spout/runtime'
import type { Log } from '@spout/sys'
import type { Command } from './command.ts'
import { Drains } from './drains.ts'
import { ProxyLauncher, type ProxyLauncherOptions } from './proxy-launcher.ts'
import { tidySlots } from './proxy-slots.ts'
import type { RunningProxy } from './running-proxy.ts'
import { ServiceCounters } from './service-counters.ts'
import type { FrontendCounters } from './show.ts'
import { SlotAssignments } from './slot-assignments.ts'
import { ProxyLost } from './stats-socket.ts'

export interface CurrentProxyOptions extends Omit<ProxyLauncherOptions, 'onLost'> {
  readonly clock: Clock
  readonly log: Log
  /** Called for every change of the running proxy. */
  readonly count: (what: 'transaction' | 'reload') => void
}

/** What becomes of the process, for who brings it back. */
export interface ProxyEvents {
  readonly onStart: () => void
  readonly onLost: () => void
}

/** A connection that ends is nearly always a death; other ends can wait this long. */
const DEATH_WITHIN_MS = 200

/**
 * The process of a domain that takes new connections, and what goes on from one such process to the next: who has which
 * slot, what services counted, which servers drain. Its callers do one thing at a time.
 */
export class CurrentProxy {
  readonly launcher: ProxyLauncher
  readonly drains: Drains
  readonly #given: CurrentProxyOptions
  readonly #events: ProxyEvents
  #assignments: SlotAssignments
  #counters = new ServiceCounters()
  #running: RunningProxy | null = null
  #closed = false

  constructor(given: CurrentProxyOptions, events: ProxyEvents) {
    this.#given = given
    this.#events = events
    this.drains = new Drains(given.options.drainMs, given.clock)
    this.#assignments = new SlotAssignments(given.options)
    this.launcher = new ProxyLauncher({ ...given, onLost: (proxy) => this.#lost(proxy) })
  }

  get assignments(): SlotAssignments {
    return this.#assignments
  }

  get counters(): ServiceCounters {
    return this.#counters
  }

  /** Null before the first start, and while it is known to be dead. */
  get running(): RunningProxy | null {
    return this.#running
  }

  /** It was let go of. */
  get closed(): boolean {
    return this.#closed
  }

  /** Takes over what an earlier agent left in this place, if anything. */
  async adopt(): Promise<void> {
    const { saved, proxy } = await this.launcher.adopt()
    if (saved === null) return
    this.#assignments = new SlotAssignments(this.#given.options, saved)
    this.#counters = new ServiceCounters(proxy === null ? [] : saved.baselines)
    this.#running = proxy
  }

  /** Starts a process with all entries; one that runs is replaced without losing a connection. */
  async start(): Promise<void> {
    const replaced = this.#running?.attached ? this.#running : null
    if (replaced !== null) await this.sample()
    const { owners, placed, slots } = this.#assignments
    tidySlots(slots)
    this.#running = await this.launcher.launch(slots, placed, replaced)
    this.#counters.restart(owners)
    this.drains.clear()
    this.#given.count(replaced === null ? 'transaction' : 'reload')
    await this.confirm()
    this.#events.onStart()
    // It may have died before it was ours to watch.
    if (!this.#running.attached) this.#events.onLost()
  }

  /** Makes the process be there again. @returns whether it is the one that was lost: what it holds is not known then */
  async regain(): Promise<boolean> {
    const lost = this.#running
    if (lost !== null && !lost.attached) {
      if (!(await lost.endsWithin(DEATH_WITHIN_MS, this.#given.clock))) {
        this.#running = await this.launcher.reattach(lost)
        return true
      }
      this.#running = null
    }
    if (this.#running === null) await this.start()
    return false
  }

  /** @returns for each command null, or the proxy's words; a server that is still in use is not a refusal but drains */
  async execute(proxy: RunningProxy, commands: readonly Command[]): Promise<readonly (string | null)[]> {
    if (commands.length === 0) return []
    const refusals = await proxy.execute(commands)
    this.#given.count('transaction')
    return this.drains.follow(commands, refusals)
  }

  /** What its frontends count now, by slot; null when it does not run. */
  async sample(): Promise<ReadonlyMap<number, FrontendCounters> | null> {
    try {
      const sample = (await this.#running?.counters()) ?? null
      if (sample !== null) this.#counters.take(sample)
      return sample
    } catch (error) {
      // A dying process: its last sample stands.
      if (error instanceof ProxyLost) return null
      throw error
    }
  }

  /** The process has the slots as they are now: the next agent shall know. */
  async confirm(): Promise<void> {
    const slots = this.#assignments.confirm()
    const proxy = this.#running
    if (proxy !== null) await this.launcher.save(proxy, { ...slots, baselines: this.#counters.baselines })
  }

  /** The process lives on without us. */
  letGo(): void {
    this.#closed = true
    this.#running?.detach()
    this.#running = null
  }

  /** The connection to the process ended: the process as well, most likely. */
  #lost(proxy: RunningProxy): void {
    if (this.#running !== proxy || this.#closed) return
    const { log, place } = this.#given
    log.warn({ proxy: place.name, pid: proxy.process.pid }, 'proxy lost')
    this.#events.onLost()
  }
}
