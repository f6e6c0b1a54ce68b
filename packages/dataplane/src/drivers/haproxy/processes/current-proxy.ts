import type { Supervisor } from '@spout/sys'
import type { Command } from '../commands/command.ts'
import { Drains } from '../commands/drains.ts'
import { since } from '../commands/pool-figures.ts'
import { ServiceCounters } from '../commands/service-counters.ts'
import type { BackendTraffic, FrontendCounters, TrafficCounters } from '../commands/show.ts'
import { ProxyLost } from '../commands/stats-socket.ts'
import { ProxyLauncher, type ProxyLauncherOptions } from './proxy-launcher.ts'
import { tidySlots } from './proxy-slots.ts'
import type { RunningProxy } from './running-proxy.ts'
import { SlotAssignments } from './slot-assignments.ts'

export interface CurrentProxyOptions extends Omit<ProxyLauncherOptions, 'onLost'> {
  /** Called after every change of the running proxy. */
  readonly count: (what: 'transaction' | 'reload') => void
}

/** A connection almost always ends because the process dies. Other causes can wait this long. */
const DEATH_WITHIN_MS = 200

/**
 * The process of a domain that accepts new connections, and the state that passes from one process to the next: slot
 * assignments, counters and draining servers. Callers run one operation at a time.
 */
export class CurrentProxy {
  readonly launcher: ProxyLauncher
  readonly drains: Drains
  readonly #given: CurrentProxyOptions
  readonly #supervisor: Supervisor
  #assignments: SlotAssignments
  #counters = new ServiceCounters()
  /** Counters of earlier owners, by backend slot. */
  #inherited = new Map<number, TrafficCounters>()
  #running: RunningProxy | null = null
  #closed = false

  /** @param supervisor is notified when the process starts and dies; its owner closes it */
  constructor(given: CurrentProxyOptions, supervisor: Supervisor) {
    this.#given = given
    this.#supervisor = supervisor
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

  /** Null before the first start, and while the process is known to be dead. */
  get running(): RunningProxy | null {
    return this.#running
  }

  /** Whether `close` was called. */
  get closed(): boolean {
    return this.#closed
  }

  /** Takes over what an earlier agent left in this place, if anything. */
  async adopt(): Promise<void> {
    const { saved, proxy } = await this.launcher.adopt()
    if (saved === null) return
    this.#assignments = new SlotAssignments(this.#given.options, saved)
    this.#counters = new ServiceCounters(proxy === null ? [] : saved.baselines)
    this.#inherited = new Map(proxy === null ? [] : saved.inherited)
    this.#running = proxy
    if (proxy !== null) this.#watch(proxy)
  }

  /** Starts a process with all entries. It replaces a running one without losing a connection. */
  async start(): Promise<void> {
    const replaced = this.#running?.attached ? this.#running : null
    if (replaced !== null) await this.sample()
    const { owners, placed, slots } = this.#assignments
    tidySlots(slots)
    this.#running = await this.launcher.launch(slots, placed, replaced)
    for (const entry of placed) this.#running.settle(entry)
    this.#counters.restart(owners)
    this.#inherited.clear()
    this.drains.restart(placed)
    this.#given.count(replaced === null ? 'transaction' : 'reload')
    await this.confirm()
    this.#watch(this.#running)
  }

  /**
   * Connects to the lost process, or starts a new one. @returns whether it is the same process, whose content is
   * unknown then
   */
  async regain(): Promise<boolean> {
    const lost = this.#running
    if (lost !== null && !lost.attached) {
      if (!(await lost.endsWithin(DEATH_WITHIN_MS, this.#given.clock))) {
        this.#running = await this.launcher.reattach(lost)
        this.#watch(this.#running)
        return true
      }
      this.#running = null
    }
    if (this.#running === null) await this.start()
    return false
  }

  /**
   * @returns for each command null, or the proxy's error text; a server that is still in use drains, which is no
   * refusal
   */
  async execute(proxy: RunningProxy, commands: readonly Command[]): Promise<readonly (string | null)[]> {
    if (commands.length === 0) return []
    const refusals = await proxy.execute(commands)
    this.#given.count('transaction')
    return this.drains.follow(commands, refusals)
  }

  /** The current counters of its frontends, by slot; null if it does not run. */
  async sample(): Promise<ReadonlyMap<number, FrontendCounters> | null> {
    try {
      const sample = (await this.#running?.counters()) ?? null
      if (sample !== null) this.#counters.take(sample)
      return sample
    } catch (error) {
      // The process is dying; its last sample counts.
      if (error instanceof ProxyLost) return null
      throw error
    }
  }

  /** Counters of backends for their present owners, by slot; empty if the process does not run. */
  async traffic(slots: readonly number[]): Promise<ReadonlyMap<number, BackendTraffic>> {
    try {
      const counted = (await this.#running?.traffic(slots)) ?? new Map<number, BackendTraffic>()
      return new Map(
        [...counted].map(([slot, { all, servers }]) => [slot, { all: since(all, this.#inherited.get(slot)), servers }]),
      )
    } catch (error) {
      if (error instanceof ProxyLost) return new Map()
      throw error
    }
  }

  /** Backends are free for other owners, which begin at zero. @throws ProxyLost */
  async countAnew(slots: readonly number[]): Promise<void> {
    for (const [slot, { all }] of (await this.#running?.traffic(slots)) ?? []) this.#inherited.set(slot, all)
  }

  /** Saves the current slots as those of the process, for the next agent. */
  async confirm(): Promise<void> {
    const slots = this.#assignments.confirm()
    const proxy = this.#running
    if (proxy === null) return
    const inherited = this.#inherited.size === 0 ? {} : { inherited: [...this.#inherited] }
    await this.launcher.save(proxy, { ...slots, baselines: this.#counters.baselines, ...inherited })
  }

  /** Closes the connection; the process continues. */
  letGo(): void {
    this.#closed = true
    this.#running?.detach()
    this.#running = null
  }

  #watch(proxy: RunningProxy): void {
    this.#supervisor.started()
    // The process may have died before we connected to it.
    if (!proxy.attached) this.#lost(proxy)
  }

  /** The connection to the process ended, most likely because the process died. */
  #lost(proxy: RunningProxy): void {
    if (this.#running === proxy) this.#supervisor.lost({ pid: proxy.process.pid })
  }
}
