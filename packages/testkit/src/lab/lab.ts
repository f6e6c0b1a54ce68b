import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { removeControlGroups } from './control-groups.ts'
import { keepLogsOf } from './kept-logs.ts'
import { killPid, pidsIn, signalPid } from './namespace-processes.ts'
import {
  claimNumber,
  isAlive,
  type LabRecord,
  type ProcessId,
  readRecord,
  readRecords,
  releaseNumber,
  removeRecord,
  runDirectoryOf,
  self,
  startTicks,
  writeRecord,
} from './record.ts'
import { must, type RunOptions, type RunResult, run } from './run.ts'
import { hostAddress, type PlaceSpec, places, SEGMENTS } from './topology.ts'
import { waitFor } from './wait-for.ts'

/** A process started in a lab. */
export interface Daemon extends ProcessId {
  readonly name: string
  /** Standard output and error. */
  readonly logFile: string
}

export interface DaemonOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Log text that says it is up; without it, nobody waits for the daemon. */
  readonly readyText?: string
}

/** Where a command runs: a place of the lab, or `host` for this process's namespace. */
export type PlaceName = string

/**
 * Namespaces connected like a small data centre (topology.ts). Everything has the lab's id in its name and is recorded
 * before it is created: if the process that created it dies, `Lab.sweep` removes it by that record.
 */
export class Lab implements AsyncDisposable {
  readonly id: string
  readonly number: number
  readonly directory: string
  #record: LabRecord

  private constructor(record: LabRecord) {
    this.id = record.id
    this.number = record.number
    this.directory = record.directory
    this.#record = record
  }

  /** Creates a lab. A `persistent` one outlives this process until `destroy`. */
  static async create(options: { readonly persistent?: boolean } = {}): Promise<Lab> {
    await Lab.sweep()
    const number = claimNumber()
    const directory = mkdtempSync(path.join(tmpdir(), `spout-lab-${number}-`))
    const lab = new Lab({
      id: `sl${number}`,
      number,
      owner: options.persistent ? null : self(),
      directory,
      processes: [],
    })
    writeRecord(lab.#record)
    try {
      await lab.#build()
      return lab
    } catch (error) {
      await lab.destroy()
      throw error
    }
  }

  /** The lab with this id; null for none. */
  static open(id: string): Lab | null {
    const record = readRecord(id)
    return record ? new Lab(record) : null
  }

  /** Removes labs whose owner is gone. */
  static async sweep(): Promise<void> {
    for (const record of readRecords())
      if (record.owner !== null && !isAlive(record.owner)) await new Lab(record).destroy()
  }

  get places(): readonly PlaceSpec[] {
    return places(this.number)
  }

  /** Name of a place's network namespace. */
  namespace(place: PlaceName): string {
    return `${this.id}-${place}`
  }

  /** Address of the host on the management network, where nodes reach the control plane. */
  get hostAddress(): string {
    return hostAddress(this.number)
  }

  /** In memory and with a short path, for sockets. */
  get runDirectory(): string {
    return runDirectoryOf(this.id)
  }

  argvIn(place: PlaceName, argv: readonly string[]): readonly string[] {
    if (place === 'host') return argv
    // Not `ip netns exec`: that mounts a fresh /sys, which hides the control groups from the agent.
    return ['nsenter', `--net=/run/netns/${this.namespace(place)}`, '--', ...argv]
  }

  run(place: PlaceName, argv: readonly string[], options?: RunOptions): Promise<RunResult> {
    return run(this.argvIn(place, argv), options)
  }

  must(place: PlaceName, argv: readonly string[], options?: RunOptions): Promise<string> {
    return must(this.argvIn(place, argv), options)
  }

  /** Starts a process that runs until it ends, is stopped, or the lab is destroyed. Its log is in `directory`. */
  async start(
    place: PlaceName,
    name: string,
    argv: readonly string[],
    { env, readyText }: DaemonOptions = {},
  ): Promise<Daemon> {
    const logFile = path.join(this.directory, `${name}.log`)
    mkdirSync(this.directory, { recursive: true })
    const log = openSync(logFile, 'a')
    const before = readFileSync(logFile, 'utf8').length
    const [command = '', ...args] = this.argvIn(place, argv)
    const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log], env: { ...process.env, ...env } })
    closeSync(log)
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    child.unref()
    const pid = child.pid ?? 0
    const daemon: Daemon = { pid, startTicks: startTicks(pid) ?? '', name, logFile }
    this.#update({
      processes: [...this.#record.processes.filter(isAlive), { pid, startTicks: daemon.startTicks, name }],
    })
    if (readyText !== undefined) await this.#untilReady(daemon, before, readyText)
    return daemon
  }

  async #untilReady(daemon: Daemon, before: number, readyText: string): Promise<void> {
    const said = () => readFileSync(daemon.logFile, 'utf8').slice(before)
    const what = `${daemon.name} to be up (log ${daemon.logFile})`
    const state = await waitFor(() => (said().includes(readyText) ? 'ready' : isAlive(daemon) ? null : 'ended'), {
      what,
      timeoutMs: 120_000,
    })
    if (state === 'ended') throw new Error(`${daemon.name} ended: ${said().trim().slice(-2000)}`)
  }

  /** The newest living process of this name. */
  process(name: string): ProcessId | null {
    return this.#read().processes.findLast((process) => process.name === name && isAlive(process)) ?? null
  }

  /** Ends a process by SIGTERM (or the given signal), after 20 s by SIGKILL, and waits until it is gone. */
  async stop(target: ProcessId, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!isAlive(target)) return
    const gone = () => waitFor(() => !isAlive(target), { what: `process ${target.pid} to end` })
    signalPid(target.pid, signal)
    await gone().catch(() => {
      signalPid(target.pid, 'SIGKILL')
      return gone()
    })
  }

  /** Cuts or mends the cable between a place and its switch. */
  async cable(place: PlaceName, link: string, state: 'cut' | 'mended'): Promise<void> {
    await must([
      'ip',
      '-n',
      this.namespace('fabric'),
      'link',
      'set',
      'dev',
      portName(this, place, link),
      state === 'cut' ? 'down' : 'up',
    ])
  }

  /** Removes everything: processes, namespaces (also those that agents made under this lab's id), files. */
  async destroy(options: { readonly keepLogs?: boolean } = {}): Promise<void> {
    const record = this.#read()
    for (const daemon of record.processes) if (isAlive(daemon)) killPid(daemon.pid)
    const namespaces = this.#namespaces()
    for (const namespace of namespaces) for (const pid of await pidsIn(namespace)) killPid(pid)
    await waitFor(
      async () => (await Promise.all(namespaces.map(pidsIn))).flat().length === 0 && !record.processes.some(isAlive),
      {
        what: `the processes of ${this.id} to end`,
        timeoutMs: 10_000,
      },
    ).catch(() => {})
    for (const namespace of namespaces) await run(['ip', 'netns', 'delete', namespace])
    await run(['ip', 'link', 'delete', 'dev', `${this.id}-host`])
    keepLogsOf(record)
    rmSync(this.runDirectory, { recursive: true, force: true })
    removeControlGroups(`spout-${this.id}n`)
    if (!options.keepLogs) rmSync(this.directory, { recursive: true, force: true })
    removeRecord(this.id)
    releaseNumber(this.number)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy()
  }

  /** Every namespace with this lab's id: its places, and the domains that agents made on its nodes. */
  #namespaces(): readonly string[] {
    try {
      return readdirSync('/run/netns').filter(
        (name) => name.startsWith(`${this.id}-`) || name.startsWith(`${this.id}n`),
      )
    } catch {
      return []
    }
  }

  async #build(): Promise<void> {
    const fabric = this.namespace('fabric')
    for (const name of ['fabric', ...this.places.map((place) => place.name)]) {
      await must(['ip', 'netns', 'add', this.namespace(name)])
      await must(['ip', '-n', this.namespace(name), 'link', 'set', 'dev', 'lo', 'up'])
    }
    await batch(
      fabric,
      SEGMENTS.flatMap((segment) => [
        `link add name br-${segment} type bridge forward_delay 0 mcast_snooping 0`,
        `link set dev br-${segment} up`,
      ]),
    )
    for (const place of this.places) await this.#plug(place, fabric)
    const host = `${this.id}-host`
    await batch(null, [
      `link add name ${host} type veth peer name mgmt-host netns ${fabric}`,
      `addr add ${this.hostAddress}/24 dev ${host}`,
      `link set dev ${host} up`,
    ])
    await batch(fabric, ['link set dev mgmt-host master br-mgmt', 'link set dev mgmt-host up'])
  }

  async #plug(place: PlaceSpec, fabric: string): Promise<void> {
    const namespace = this.namespace(place.name)
    const sysctls = [
      'net.ipv6.conf.all.accept_dad=0',
      'net.ipv6.conf.default.accept_dad=0',
      'net.ipv6.conf.default.accept_ra=0',
      ...place.sysctls,
    ]
    await must(['ip', 'netns', 'exec', namespace, 'sysctl', '-qw', ...sysctls])
    const ports = place.links.map((link) => ({ ...link, port: portName(this, place.name, link.name) }))
    await batch(
      fabric,
      ports.flatMap(({ port, name, segment }) => [
        `link add name ${port} type veth peer name ${name} netns ${namespace}`,
        `link set dev ${port} master br-${segment}`,
        `link set dev ${port} up`,
      ]),
    )
    await batch(
      namespace,
      ports.flatMap(({ name, addresses }) => [
        `link set dev ${name} up`,
        ...addresses.map((address) => `addr add ${address} dev ${name}${address.includes(':') ? ' nodad' : ''}`),
      ]),
    )
    await batch(
      namespace,
      place.routes.map((route) => `route replace ${route}`),
    )
  }

  #read(): LabRecord {
    this.#record = readRecord(this.id) ?? this.#record
    return this.#record
  }

  #update(change: Partial<LabRecord>): void {
    this.#record = { ...this.#read(), ...change }
    writeRecord(this.#record)
  }
}

/** The switch's end of a place's link; at most 15 characters. */
const portName = (lab: Lab, place: string, link: string): string => {
  const index = lab.places.findIndex((candidate) => candidate.name === place)
  return `p${index}-${link}`
}

async function batch(namespace: string | null, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return
  await must(['ip', ...(namespace ? ['-n', namespace] : []), '-batch', '-'], { input: `${lines.join('\n')}\n` })
}
