import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import {
  endProcess,
  identifyProcess,
  isRunning,
  readFileOrNull,
  runsAnotherProgram,
  writeFileAtomically,
} from '@spout/sys'
import type { ProcessSettings } from './config.ts'
import { contentOf, type PlacedEntry, type ProxySlots } from './content.ts'
import { boundsOf, type HaproxyOptions } from './options.ts'
import { proxyFiles, removeProxyFiles, writeProxyFiles } from './proxy-files.ts'
import type { ProxyHost } from './proxy-host.ts'
import type { ProxyPlace } from './proxy-place.ts'
import { endProcessesOn, processesOn } from './proxy-process.ts'
import { RunningProxy } from './running-proxy.ts'
import { readState, type SavedState, writeState } from './state-file.ts'
import { ProxyLost } from './stats-socket.ts'

const END_WITHIN_MS = 1_000

export interface ProxyLauncherOptions {
  readonly place: ProxyPlace
  /** User and group that the process runs as. */
  readonly uid: number
  readonly host: ProxyHost
  readonly options: HaproxyOptions
  /** A process ended, or closed the connection, by other hands than ours. */
  readonly onLost: (proxy: RunningProxy) => void
}

/** Starts, replaces, takes over and ends the processes of one domain. They are daemons: they outlive the agent. */
export class ProxyLauncher {
  readonly #given: ProxyLauncherOptions
  readonly #files: ReturnType<typeof proxyFiles>
  #generation = 0
  /** Those of the process that runs, which an earlier agent may have started. */
  #bounds: string | undefined

  constructor(given: ProxyLauncherOptions) {
    this.#given = given
    this.#files = proxyFiles(`${given.options.runDirectory}/${given.place.name}`)
  }

  /**
   * Starts a process that holds these entries from its first moment. It takes the listening sockets over from `replaced`,
   * so that no connection is refused, and has it serve what it has to the end.
   * @throws Error with the proxy's words; `replaced` goes on as if nothing had been, or is lost
   */
  async launch(
    slots: ProxySlots,
    entries: readonly PlacedEntry[],
    replaced: RunningProxy | null,
  ): Promise<RunningProxy> {
    const { host, options, place } = this.#given
    const generation = ++this.#generation
    this.#bounds = boundsOf(options)
    await writeProxyFiles(this.#files, {
      settings: this.#settings(generation),
      frontends: slots.frontends.slots,
      backends: slots.backends.slots,
      entries,
    })
    await host.run(place, [
      options.executable,
      // Buffers that the thread's cache has no room for are kept for the next request, not given back to the allocator.
      '-dMglobal',
      ...['-D', '-q', '-f', this.#files.config, '-p', this.#files.pid],
      ...(replaced === null
        ? []
        : ['-x', this.#files.statsSocket(replaced.generation), '-sf', String(replaced.process.pid)]),
    ])
    try {
      const process = await identifyProcess(Number(await readFile(this.#files.pid, 'utf8')))
      if (process === null) throw new ProxyLost('the proxy ended right after its start')
      const proxy = await this.#attach(process, generation, contentOf(entries))
      await host.confine(place.name, process.pid)
      replaced?.detach()
      await rm(this.#files.statsSocket(generation - 1), { force: true })
      return proxy
    } catch (error) {
      // It runs but is not to be had, and what it replaced has stopped listening: from the beginning.
      await this.#terminate()
      throw error
    }
  }

  /** Speaks again to a process that closed the connection yet lives. @throws ProxyLost */
  reattach(proxy: RunningProxy): Promise<RunningProxy> {
    return this.#attach(proxy.process, proxy.generation, null)
  }

  /**
   * Takes over what an earlier agent left: its slots, and its process if that lives and listens where it should.
   * What cannot be known any more is ended.
   */
  async adopt(): Promise<{ readonly saved: SavedState | null; readonly proxy: RunningProxy | null }> {
    if (!existsSync(this.#files.directory)) return { saved: null, proxy: null }
    const saved = await readState(this.#files.state)
    if (saved === null || saved.addresses.join() !== this.#addresses.join()) {
      await this.#terminate()
      return { saved: null, proxy: null }
    }
    this.#generation = saved.generation
    this.#bounds = saved.bounds
    if (!(await isRunning(saved.process))) return { saved, proxy: null }
    const { host, place } = this.#given
    // The bounds may be others now. Where they cannot be had yet (less memory than it holds), those of its start stay.
    await host.confine(place.name, saved.process.pid).catch(() => {})
    try {
      return { saved, proxy: await this.#attach(saved.process, saved.generation, null) }
    } catch {
      // It lives and does not answer: its ports are needed.
      await this.#terminate()
      return { saved, proxy: null }
    }
  }

  /** Whether it runs another program than a new process would, or binds its clients otherwise: Spout or the program was upgraded. */
  async isOutdated({ process }: RunningProxy): Promise<boolean> {
    const { options } = this.#given
    return this.#bounds !== boundsOf(options) || runsAnotherProgram(process, options.executable)
  }

  /** Keeps what `adopt` of the next agent needs. */
  save(proxy: RunningProxy, state: Pick<SavedState, 'frontends' | 'backends' | 'baselines'>): Promise<void> {
    const { process, generation } = proxy
    return writeState(this.#files.state, {
      ...{ generation, process, addresses: this.#addresses, ...state },
      ...(this.#bounds === undefined ? {} : { bounds: this.#bounds }),
    })
  }

  /** The last drain of the node in which connections were closed gracefully; null before the first. */
  async lastDrain(): Promise<string | null> {
    return (await readFileOrNull(this.#files.lastDrain))?.toString('utf8') ?? null
  }

  noteDrain(since: string): Promise<void> {
    return writeFileAtomically(this.#files.lastDrain, since)
  }

  /** How many of these processes run on this configuration. */
  countOf(processes: ReadonlyMap<string, number>): number {
    return processes.get(this.#files.config) ?? 0
  }

  /** Ends processes that were replaced and still serve what they had. */
  async endReplaced(current: RunningProxy): Promise<void> {
    const replaced = (await processesOn(this.#files.config)).filter(({ pid }) => pid !== current.process.pid)
    await Promise.all(replaced.map((process) => endProcess(process, END_WITHIN_MS)))
  }

  /** Ends every process of the domain and leaves nothing behind. */
  async stop(): Promise<void> {
    await this.#terminate()
    await this.#given.host.release(this.#given.place.name)
    await removeProxyFiles(this.#files)
  }

  async #terminate(): Promise<void> {
    await endProcessesOn(this.#files.config)
  }

  async #attach(...[process, generation, content]: AttachParameters): Promise<RunningProxy> {
    let proxy: RunningProxy | null = null
    const lost = () => {
      if (proxy !== null) this.#given.onLost(proxy)
    }
    proxy = await RunningProxy.attach(process, generation, this.#files, content, lost)
    return proxy
  }

  get #addresses(): readonly string[] {
    const { address4, address6 } = this.#given.place
    return [address4, address6].filter((address) => address !== null)
  }

  #settings(generation: number): ProcessSettings {
    const { options, uid } = this.#given
    return {
      uid,
      gid: uid,
      chroot: this.#files.root,
      statsSocket: this.#files.statsSocket(generation),
      addresses: this.#addresses,
      firstPort: options.firstPort,
      maxConnections: options.maxConnections,
      sourceShare: options.sourceShare,
      requestWithinMs: options.requestWithinMs,
      leaveAfterMs: options.leaveAfterMs,
      mapPath: this.#files.map,
    }
  }
}

type AttachParameters = [
  process: Parameters<typeof RunningProxy.attach>[0],
  generation: number,
  content: Parameters<typeof RunningProxy.attach>[3],
]
