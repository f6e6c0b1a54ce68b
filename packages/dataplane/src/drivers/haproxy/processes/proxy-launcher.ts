import { closeSync, existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Clock } from '@spout/runtime'
import {
  endProcess,
  identifyProcess,
  isRunning,
  type ProcessIdentity,
  readFileOrNull,
  runsAnotherProgram,
  writeFileAtomically,
} from '@spout/sys'
import { withKnownFiles } from '../certificates/tls-files.ts'
import { ProxyLost } from '../commands/stats-socket.ts'
import type { ProcessSettings } from '../configuration/config.ts'
import type { ProxyHost } from '../place/proxy-host.ts'
import type { ProxyPlace } from '../place/proxy-place.ts'
import { endProcessesOn, processesOn } from '../place/proxy-process.ts'
import { contentOf, type PlacedEntry, type ProxySlots } from '../rendering/content.ts'
import { openPipe } from '../requests/request-pipe.ts'
import { boundsOf, type HaproxyOptions } from '../sections/options.ts'
import { proxyFiles, removeProxyFiles, writeProxyFiles } from './proxy-files.ts'
import { RunningProxy } from './running-proxy.ts'
import { startProcess } from './start-process.ts'
import { readState, type SavedState, writeState } from './state-file.ts'

const END_WITHIN_MS = 1_000
const STOP_WITHIN_MS = 1_000
const LUA_PROGRAMS = [
  new URL('./own-requests.lua', import.meta.url),
  new URL('./http-requests.lua', import.meta.url),
  new URL('./body-limits.lua', import.meta.url),
  new URL('./authorizers.lua', import.meta.url),
  new URL('./mirrors.lua', import.meta.url),
  new URL('./tls-names.lua', import.meta.url),
].map((url) => fileURLToPath(url))

export interface ProxyLauncherOptions {
  readonly place: ProxyPlace
  /** User and group that the process runs as. */
  readonly uid: number
  readonly host: ProxyHost
  readonly options: HaproxyOptions
  readonly clock: Clock
  /** A process ended, or its connection was closed by the other side. */
  readonly onLost: (proxy: RunningProxy) => void
}

/** Starts, replaces, adopts and ends the processes of one domain. They are daemons, which outlive the agent. */
export class ProxyLauncher {
  readonly #given: ProxyLauncherOptions
  readonly #files: ReturnType<typeof proxyFiles>
  #generation = 0
  /** The limits of the running process, which an earlier agent may have started. */
  #bounds: string | undefined

  constructor(given: ProxyLauncherOptions) {
    this.#given = given
    this.#files = proxyFiles(`${given.options.runDirectory}/${given.place.name}`, given.options.certificateDirectory)
  }

  /** Where the process passes on requests for figures. */
  get metricsSocket(): string {
    return this.#files.metricsSocket
  }

  /** Where processes write lines of requests to. */
  get lines(): string {
    return this.#files.lines
  }

  /**
   * Starts a process with these entries. It takes over the listening sockets of `replaced`, so that no connection is
   * refused, and `replaced` serves its connections to their end.
   * @throws Error with the proxy's error text; `replaced` continues unchanged, or is lost
   */
  async launch(
    slots: ProxySlots,
    wanted: readonly PlacedEntry[],
    replaced: RunningProxy | null,
  ): Promise<RunningProxy> {
    const { host, options, place } = this.#given
    const entries = await withKnownFiles(this.#files.tls, wanted)
    const generation = ++this.#generation
    this.#bounds = boundsOf(options)
    const tidy = await writeProxyFiles(this.#files, {
      settings: this.#settings(generation),
      frontends: slots.frontends.slots,
      backends: slots.backends.slots,
      entries,
    })
    const argv = [
      options.executable,
      // Keeps buffers beyond the thread's cache for the next request, instead of returning them to the allocator.
      '-dMglobal',
      ...['-D', '-f', this.#files.config, '-p', this.#files.pid],
      ...(replaced === null
        ? []
        : ['-x', this.#files.statsSocket(replaced.generation), '-sf', String(replaced.process.pid)]),
    ] as const
    const lines = await openPipe(this.#files.lines)
    try {
      await startProcess(() => host.run(place, argv, [lines]))
    } finally {
      closeSync(lines)
      await tidy()
    }
    try {
      const process = await identifyProcess(Number(await readFile(this.#files.pid, 'utf8')))
      if (process === null) throw new ProxyLost('the proxy ended right after its start')
      const proxy = await this.#attach(process, generation, contentOf(entries))
      await host.confine(place, process.pid)
      // What is reported from here on must be so for each new connection.
      await replaced?.stopsWithin(STOP_WITHIN_MS, this.#given.clock)
      replaced?.detach()
      await rm(this.#files.statsSocket(generation - 1), { force: true })
      return proxy
    } catch (error) {
      // The new process cannot be used, and the one it replaced no longer listens, so both are ended.
      await this.#terminate()
      throw error
    }
  }

  /** Reconnects to a process that closed the connection but still runs. @throws ProxyLost */
  reattach(proxy: RunningProxy): Promise<RunningProxy> {
    return this.#attach(proxy.process, proxy.generation, proxy.content.tls)
  }

  /**
   * Adopts the slots of an earlier agent, and its process if that runs and listens on the right addresses. Ends a
   * process whose state is unknown.
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
    if ((await this.#endUnrecorded(saved.process)) || !(await isRunning(saved.process))) return { saved, proxy: null }
    const { host, place } = this.#given
    const unreadable = {
      fallbacks: new Map(saved.fallbacks ?? []),
      clients: new Map(saved.clients ?? []),
      revocations: new Map(saved.revocations ?? []),
    }
    // The limits may have changed. If they cannot be set yet (less memory than is in use), the old ones stay.
    await host.confine(place, saved.process.pid).catch(() => {})
    try {
      return { saved, proxy: await this.#attach(saved.process, saved.generation, unreadable) }
    } catch {
      // The process runs but does not answer, and its ports are needed.
      await this.#terminate()
      return { saved, proxy: null }
    }
  }

  /** Whether a new process would have another executable or other limits for clients: Spout or HAProxy was upgraded. */
  async isOutdated({ process }: RunningProxy): Promise<boolean> {
    const { options } = this.#given
    return this.#bounds !== boundsOf(options) || runsAnotherProgram(process, options.executable)
  }

  /** Saves what `adopt` of the next agent needs. */
  save(
    proxy: RunningProxy,
    state: Pick<SavedState, 'frontends' | 'backends' | 'baselines' | 'inherited'>,
  ): Promise<void> {
    const { process, generation } = proxy
    return writeState(this.#files.state, {
      ...{ generation, process, addresses: this.#addresses, ...state },
      ...(this.#bounds === undefined ? {} : { bounds: this.#bounds }),
      ...(proxy.content.tls.fallbacks.size === 0 ? {} : { fallbacks: [...proxy.content.tls.fallbacks] }),
      ...(proxy.content.tls.clients.size === 0 ? {} : { clients: [...proxy.content.tls.clients] }),
      ...(proxy.content.tls.revocations.size === 0 ? {} : { revocations: [...proxy.content.tls.revocations] }),
    })
  }

  /** The last drain of the node in which connections were closed gracefully; null before the first. */
  async lastDrain(): Promise<string | null> {
    return (await readFileOrNull(this.#files.lastDrain))?.toString('utf8') ?? null
  }

  noteDrain(since: string): Promise<void> {
    return writeFileAtomically(this.#files.lastDrain, since)
  }

  /** Counts the processes that run on this configuration. */
  countOf(processes: ReadonlyMap<string, number>): number {
    return processes.get(this.#files.config) ?? 0
  }

  /** Ends replaced processes that still have connections. */
  async endReplaced(current: RunningProxy): Promise<void> {
    const replaced = (await processesOn(this.#files.config)).filter(({ pid }) => pid !== current.process.pid)
    await Promise.all(replaced.map((process) => endProcess(process, END_WITHIN_MS)))
  }

  /**
   * Ends a replacement that an earlier agent started and could not record before it was killed. Its slots are unknown.
   * It shares the listening ports with any other process (SO_REUSEPORT), so it would serve new connections with
   * outdated members. The recorded process listens no more. @returns whether there was one
   */
  async #endUnrecorded(recorded: ProcessIdentity): Promise<boolean> {
    const newest = Number((await readFileOrNull(this.#files.pid))?.toString('utf8'))
    if (newest === recorded.pid) return false
    const unrecorded = (await processesOn(this.#files.config)).find(({ pid }) => pid === newest)
    if (unrecorded === undefined) return false
    await endProcess(unrecorded, END_WITHIN_MS)
    return true
  }

  /** Ends all processes of the domain and removes its files. */
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
      bufferBytes: options.bufferBytes,
      leaveAfterMs: options.leaveAfterMs,
      luaPrograms: options.lua ? LUA_PROGRAMS : [],
      mapPath: this.#files.map,
      certificatePath: this.#files.tls.certificate,
      listPath: this.#files.tls.list,
      clientsPath: this.#files.tls.clients,
      revocationsPath: this.#files.tls.revocations,
    }
  }
}

type AttachParameters = [
  process: Parameters<typeof RunningProxy.attach>[0],
  generation: number,
  content: Parameters<typeof RunningProxy.attach>[3],
]
