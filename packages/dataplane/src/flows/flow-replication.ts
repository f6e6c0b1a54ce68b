import { rm } from 'node:fs/promises'
import type { FlowsReport } from '@spout/model/node-report'
import type { DomainEntry, FlowSettings } from '@spout/model/node-state'
import { type Clock, Mutex, systemClock } from '@spout/runtime'
import {
  isRunning,
  type Log,
  makeRunDirectory,
  type ProcessIdentity,
  readFileOrNull,
  Supervisor,
  writeFileAtomically,
} from '@spout/sys'
import { type DomainConfig, rootNetns } from '../domain/domain-config.ts'
import { domainNames } from '../domain/domain-names.ts'
import { flowsConfig, type SharedDomain, sharedDomain } from './flows-config.ts'
import { FlowsProcess } from './flows-process.ts'
import { flowsReport, unheard } from './flows-report.ts'
import { type FlowsState, parseFlowsState } from './flows-state.ts'

export interface FlowReplicationOptions {
  readonly config: DomainConfig
  readonly log: Log
  /** The program `spout-flows`. */
  readonly executable: string
  /** Its own memory-backed directory, kept while the agent restarts. The running process is found by it. */
  readonly directory: string
  readonly clock?: Clock
  /** If the process writes no state for this long, it is restarted. Default 30 s. */
  readonly stuckMs?: number
}

/** Peers keep replicated flows for minutes meanwhile. */
const LOOK_EVERY_MS = 1_000
/** The process writes its state once a second. */
const STUCK_MS = 30_000
/** Time that a new process has for its first state. */
const FIRST_WORD_MS = 5_000

/**
 * Keeps flows of domains with a shared address alive when another node of the group takes over. The process
 * `spout-flows` replicates them, with or without the agent.
 */
export class FlowReplication {
  readonly #options: FlowReplicationOptions
  readonly #clock: Clock
  readonly #process: FlowsProcess
  readonly #mutex = new Mutex()
  readonly #supervisor: Supervisor
  readonly #domains = new Map<number, SharedDomain>()
  /** Undefined until `configure`: what an earlier agent started keeps running. */
  #settings: FlowSettings | null | undefined
  #text: string | null = null
  #running: ProcessIdentity | null = null
  /** An earlier agent's program still runs. Its files may have another format. */
  #outdated = false
  #startedMs = 0
  /** The newest state's own time, and when this process saw it. */
  #heard: { readonly writtenMs: number | null; readonly atMs: number } = { writtenMs: null, atMs: 0 }
  #changes = 0

  constructor(options: FlowReplicationOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#process = new FlowsProcess(options.executable, options.directory, rootNetns(options.config))
    this.#supervisor = new Supervisor({
      name: 'spout-flows',
      log: options.log,
      clock: this.#clock,
      mutex: this.#mutex,
      end: () => this.#end(),
      start: () => this.#start(),
      check: { everyMs: LOOK_EVERY_MS, isHealthy: () => this.#isHealthy() },
    })
  }

  /** Counts changes since the start: configurations written, processes started or ended. */
  get counters(): { readonly changes: number } {
    return { changes: this.#changes }
  }

  /** Takes over what an earlier agent left. Writes and starts nothing before `configure`. */
  adopt(previous: readonly DomainEntry[]): Promise<void> {
    return this.#mutex.run(async () => {
      await makeRunDirectory(this.#options.directory, 0o700)
      this.#text = (await readFileOrNull(this.#configFile))?.toString('utf8') ?? null
      this.#running = await this.#process.find()
      this.#outdated = this.#running !== null && (await this.#process.isOutdated(this.#running))
      this.#begin()
      for (const entry of previous) this.#learn(entry)
    })
  }

  /**
   * Sets the peers; null ends replication. Flows of other nodes stay in this node's kernel until they expire.
   * @throws RangeError naming the invalid field; nothing changes
   * @throws Error if the program cannot be started; it is retried from then on
   */
  configure(settings: FlowSettings | null): Promise<void> {
    return this.#mutex.run(async () => {
      if (settings !== null) flowsConfig(settings, this.#domains.values())
      this.#settings = settings
      await (settings === null ? this.#leave() : this.#apply(settings))
    })
  }

  /** Adds and changes domains, and removes those with the numbers in `gone`. Never throws. */
  follow(put: readonly DomainEntry[], gone: readonly number[] = []): Promise<void> {
    return this.#mutex.run(async () => {
      for (const number of gone) this.#domains.delete(number)
      for (const entry of put) this.#learn(entry)
      // A domain without flow replication is better than none.
      if (this.#settings)
        await this.#apply(this.#settings).catch((error: unknown) => {
          this.#options.log.warn({ error: String(error) }, 'the replication of flows could not be configured')
        })
    })
  }

  /** The current state; null while nothing is replicated. */
  async state(): Promise<FlowsState | null> {
    if (this.#running === null) return null
    const text = await readFileOrNull(`${this.#options.directory}/state.json`)
    return text === null ? null : parseFlowsState(text.toString('utf8'))
  }

  /** The state for the node's reports; null if flows are not replicated. */
  async report(): Promise<FlowsReport | null> {
    if (!this.#settings) return null
    const state = await this.state()
    const running = this.#running
    if (running === null) return unheard('spout-flows does not run')
    if (state?.pid === running.pid) return flowsReport(state, this.#clock.now().getTime())
    const isNew = this.#clock.monotonicMs() - this.#startedMs < FIRST_WORD_MS
    return unheard(isNew ? null : 'spout-flows has said nothing since it was started')
  }

  /** Stops watching the process, which continues. */
  async close(): Promise<void> {
    this.#supervisor.close()
    await this.#mutex.idle()
  }

  get #configFile(): string {
    return `${this.#options.directory}/config`
  }

  #learn(entry: DomainEntry): void {
    const shared = sharedDomain(entry, domainNames(this.#options.config, entry.number).netns)
    if (shared === null) this.#domains.delete(entry.number)
    else this.#domains.set(entry.number, shared)
  }

  async #apply(settings: FlowSettings): Promise<void> {
    const text = flowsConfig(settings, this.#domains.values())
    if (text !== this.#text) {
      await writeFileAtomically(this.#configFile, text)
      this.#text = text
      this.#changes++
    }
    // Also when the daemon does not start: the start is tried again.
    this.#supervisor.watch()
    // Its flows stay in the kernel, and peers keep theirs for minutes.
    if (this.#outdated) await this.#end()
    this.#outdated = false
    if (this.#running === null || !(await isRunning(this.#running))) await this.#start()
  }

  async #leave(): Promise<void> {
    this.#supervisor.stop()
    if (this.#running !== null) this.#changes++
    await this.#end()
    // The file contains the key.
    if (this.#text !== null) await rm(this.#configFile, { force: true })
    this.#text = null
  }

  async #start(): Promise<void> {
    this.#running = await this.#process.start()
    this.#begin()
    this.#changes++
    this.#supervisor.started()
  }

  async #end(): Promise<void> {
    if (this.#running !== null) await this.#process.end(this.#running)
    this.#running = null
  }

  #begin(): void {
    this.#startedMs = this.#clock.monotonicMs()
    this.#heard = { writtenMs: null, atMs: this.#startedMs }
  }

  /** Whether the process runs and makes progress. */
  async #isHealthy(): Promise<boolean> {
    const running = this.#running
    if (running === null || !(await isRunning(running))) return false
    const state = await this.state()
    const writtenMs = state?.pid === running.pid ? state.writtenMs : null
    const atMs = this.#clock.monotonicMs()
    if (writtenMs !== this.#heard.writtenMs) this.#heard = { writtenMs, atMs }
    return atMs - this.#heard.atMs <= (this.#options.stuckMs ?? STUCK_MS)
  }
}
