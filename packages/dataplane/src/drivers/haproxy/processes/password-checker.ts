import { readFile } from 'node:fs/promises'
import type { Clock, Mutex, Timer } from '@spout/runtime'
import { identifyProcess, type Log, type ProcessIdentity, runsAnotherProgram, Supervisor } from '@spout/sys'
import { readPem } from '../certificates/tls-files.ts'
import type { ProxyHost } from '../place/proxy-host.ts'
import type { ProxyPlace } from '../place/proxy-place.ts'
import { endPasswordsOf } from '../place/proxy-process.ts'
import type { RenderedEntry } from '../rendering/render.ts'
import { USERS_SOCKET } from '../routes/users-backend.ts'
import type { HaproxyOptions } from '../sections/options.ts'
import type { Outcome } from './outcome.ts'
import { PasswordSocket } from './password-socket.ts'
import { makeProxyDirectory, type ProxyFiles, proxyFiles } from './proxy-files.ts'

export interface PasswordCheckerOptions {
  readonly place: ProxyPlace
  /** User and group that the process runs as. They are those of the proxy, its only client. */
  readonly uid: number
  readonly host: ProxyHost
  readonly options: HaproxyOptions
  readonly clock: Clock
  readonly log: Log
}

/**
 * The process of one domain that compares passwords (`native/passwords`). It exists while routes ask for passwords, and
 * outlives the agent. It gets each list of users before the proxy gets a route that uses the list. All operations run
 * in the domain's mutex.
 */
export class PasswordChecker {
  readonly #given: PasswordCheckerOptions
  readonly #files: ProxyFiles
  readonly #mutex: Mutex
  readonly #supervisor: Supervisor
  /** Lists of users by key of the entry. */
  readonly #users = new Map<string, ReadonlySet<string>>()
  #socket: PasswordSocket | null = null
  #timer: Timer | null = null

  constructor(given: PasswordCheckerOptions, mutex: Mutex) {
    const { clock, log, place, options } = given
    this.#given = given
    this.#mutex = mutex
    this.#files = proxyFiles(`${options.runDirectory}/${place.name}`, options.certificateDirectory)
    this.#supervisor = new Supervisor({
      name: `passwords ${place.name}`,
      ...{ log, clock, mutex },
      start: async () => void (await this.#give(this.#wanted())),
    })
  }

  /** Finds the process of an earlier agent. */
  async adopt(): Promise<void> {
    const process = await this.#recorded()
    if (process === null) return
    if (await runsAnotherProgram(process, this.#given.options.passwords))
      await endPasswordsOf(this.#files.passwords.pid)
    else await this.#connect().catch(() => endPasswordsOf(this.#files.passwords.pid))
  }

  /** Gives the process the lists of these entries. @returns the failures, by key of the entries whose lists it lacks */
  async provide(put: readonly RenderedEntry[]): Promise<ReadonlyMap<string, Outcome>> {
    const asking = put.filter(({ users }) => users !== undefined)
    if (asking.length === 0) return NOTHING
    try {
      const missing = await this.#give(new Set(asking.flatMap(({ users = [] }) => [...users])))
      const lacks = asking.filter(({ users }) => users !== undefined && !users.isDisjointFrom(missing))
      return new Map(lacks.map(({ key }) => [key, LACKING]))
    } catch (error) {
      const outcome = {
        reason: 'ProxyUnavailable',
        message: `passwords cannot be compared: ${(error as Error).message}`,
      }
      return new Map(asking.map(({ key }) => [key, outcome]))
    }
  }

  /** Records that these entries are in force. Lists that no entry names are forgotten after a while. */
  note(put: readonly RenderedEntry[], outcomes: ReadonlyMap<string, Outcome>, remove: readonly string[]): void {
    let mayBeUnused = false
    for (const key of remove) mayBeUnused = this.#users.delete(key) || mayBeUnused
    for (const { key, users } of put) {
      const before = this.#users.get(key)
      if (outcomes.get(key) !== null || (before === undefined && users === undefined)) continue
      mayBeUnused ||= before !== undefined && !before.isSubsetOf(users ?? NONE)
      if (users === undefined) this.#users.delete(key)
      else this.#users.set(key, users)
    }
    if (mayBeUnused) this.forgetLater()
  }

  /** After a while, makes the process forget the lists that no entry names, also those of an earlier agent. */
  forgetLater(): void {
    if (this.#socket === null || this.#timer !== null) return
    this.#timer = this.#given.clock.setTimer(() => {
      this.#timer = null
      void this.#mutex.run(() => this.#forget()).catch(() => {})
    }, this.#given.options.usersStayMs)
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    this.close()
    await endPasswordsOf(this.#files.passwords.pid)
  }

  /** The process continues. */
  close(): void {
    this.#supervisor.close()
    this.#letGo()
  }

  #letGo(): void {
    this.#timer?.clear()
    this.#timer = null
    this.#socket?.close()
    this.#socket = null
  }

  /** @returns lists that this node does not have */
  async #give(wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const socket = this.#socket ?? (await this.#start())
    const missing = new Set<string>()
    for (const contentId of wanted.difference(await socket.lists())) {
      const list = await readPem(this.#files.tls, contentId)
      if (list === null) missing.add(contentId)
      else await socket.put(contentId, list)
    }
    return missing
  }

  async #forget(): Promise<void> {
    const wanted = this.#wanted()
    if (this.#socket === null) return
    for (const contentId of (await this.#socket.lists()).difference(wanted)) await this.#socket.drop(contentId)
    if (wanted.size > 0) return
    this.#supervisor.stop()
    this.#letGo()
    await endPasswordsOf(this.#files.passwords.pid)
  }

  #wanted(): ReadonlySet<string> {
    return new Set([...this.#users.values()].flatMap((ids) => [...ids]))
  }

  /** Starts the process, and ends one that does not answer. */
  async #start(): Promise<PasswordSocket> {
    const { host, place, uid, options } = this.#given
    const { root, passwords } = this.#files
    await endPasswordsOf(passwords.pid)
    await makeProxyDirectory(this.#files)
    const argv = [options.passwords, String(uid), root, USERS_SOCKET, passwords.socket, passwords.pid] as const
    await host.run(place, argv, [])
    const process = await this.#recorded()
    if (process === null) throw new Error('it ended right after its start')
    await host.confine(place, process.pid)
    return this.#connect()
  }

  async #connect(): Promise<PasswordSocket> {
    const socket = await PasswordSocket.connect(this.#files.passwords.socket, () => {
      if (this.#socket !== socket) return
      this.#socket = null
      this.#supervisor.lost()
    })
    this.#socket = socket
    this.#supervisor.started()
    return socket
  }

  async #recorded(): Promise<ProcessIdentity | null> {
    const pid = Number(await readFile(this.#files.passwords.pid, 'utf8').catch(() => ''))
    return pid > 0 ? identifyProcess(pid) : null
  }
}

const NONE: ReadonlySet<string> = new Set()
const NOTHING: ReadonlyMap<string, Outcome> = new Map()
const LACKING: Outcome = { reason: 'CertificateMissing', message: 'a list of users is not on this node' }
