import { type Clock, pause } from '@spout/runtime'
import { isRunning, type ProcessIdentity } from '@spout/sys'
import { isTlsCommand, payloadOf, tlsCommandText } from '../certificates/tls-command.ts'
import { readPem } from '../certificates/tls-files.ts'
import { type Command, commandText, follow, refusal } from '../commands/command.ts'
import {
  type BackendTraffic,
  type FrontendCounters,
  isStopping,
  parseFrontendStats,
  parseInfo,
  parseMirrors,
  parseServerStats,
  parseTraffic,
  type ServerCounters,
} from '../commands/show.ts'
import { ProxyLost, StatsSocket } from '../commands/stats-socket.ts'
import type { ProxyMirrors } from '../place/mirror-share.ts'
import {
  backendName,
  frontendName,
  type PlacedEntry,
  type PlacedRows,
  type ProxyContent,
} from '../rendering/content.ts'
import type { UnreadableContent } from '../rendering/tls-content.ts'
import { ALL } from '../sections/source-share.ts'
import { CONTENT_PARTS, readContent } from './content-parts.ts'
import type { ProxyFiles } from './proxy-files.ts'

const LOOK_EVERY_MS = 2
/** Each single query costs the process a walk over all its sections. */
const MOST_ASKED_ALONE = 8

/** A connected proxy process, and its content. */
export class RunningProxy {
  readonly process: ProcessIdentity
  readonly generation: number
  readonly #files: ProxyFiles
  readonly #socket: StatsSocket
  readonly #settled = new Map<number, PlacedRows>()
  readonly #held = new WeakSet<PlacedEntry>()
  #content: ProxyContent

  private constructor(
    process: ProcessIdentity,
    generation: number,
    files: ProxyFiles,
    socket: StatsSocket,
    content: ProxyContent,
  ) {
    this.process = process
    this.generation = generation
    this.#files = files
    this.#socket = socket
    this.#content = content
  }

  /**
   * @param content all that it holds; for a process that an earlier agent started, what cannot be read back from it
   * @param onLost called once when the process is gone, or closed the connection
   * @throws ProxyLost
   */
  static async attach(
    process: ProcessIdentity,
    generation: number,
    files: ProxyFiles,
    content: ProxyContent | UnreadableContent,
    onLost: () => void,
  ): Promise<RunningProxy> {
    const socket = await StatsSocket.connect(files.statsSocket(generation), onLost)
    try {
      const known = 'backends' in content ? content : await readContent(socket, files, content)
      return new RunningProxy(process, generation, files, socket, known)
    } catch (error) {
      socket.close()
      throw error
    }
  }

  get content(): ProxyContent {
    return this.#content
  }

  /** The rows that frontends are known to have, by slot. */
  get settled(): ReadonlyMap<number, PlacedRows> {
    return this.#settled
  }

  /** The process has exactly the rows of this entry. */
  settle({ frontends }: PlacedEntry): void {
    for (const { slot, rows } of frontends) if (rows !== undefined) this.#settled.set(slot, rows)
  }

  /** The process may have other content than this entry needs. */
  unsettle(placed: PlacedEntry): void {
    this.#held.delete(placed)
    for (const { slot } of placed.frontends) this.#settled.delete(slot)
  }

  /** Its content was compared with this entry, and has all of it. */
  found(placed: PlacedEntry): void {
    this.#held.add(placed)
    this.settle(placed)
  }

  /** Whether it was found to have all of this entry. That stays so while its content is as known. */
  holds(placed: PlacedEntry): boolean {
    return this.#held.has(placed)
  }

  /** Whether it is connected. */
  get attached(): boolean {
    return this.#socket.open
  }

  /**
   * Whether the process ends within this time. A dying process closes its sockets some milliseconds before it is gone.
   */
  async endsWithin(withinMs: number, clock: Clock): Promise<boolean> {
    const deadline = clock.monotonicMs() + withinMs
    while (await isRunning(this.process)) {
      if (clock.monotonicMs() >= deadline) return false
      await pause(clock, LOOK_EVERY_MS)
    }
    return true
  }

  /**
   * Whether the process, which another one replaces, stops listening within this time. It takes the signal for it in its
   * next turn, and until then accepts connections, too. True also if it is gone.
   */
  async stopsWithin(withinMs: number, clock: Clock): Promise<boolean> {
    const over = new AbortController()
    const late = pause(clock, withinMs, over.signal).then(() => null)
    try {
      for (;;) {
        const said = await Promise.race([this.#socket.execute(['show info\n']), late])
        if (said === null) return false
        if (isStopping(said[0] ?? '')) return true
        await pause(clock, LOOK_EVERY_MS)
      }
    } catch (error) {
      if (error instanceof ProxyLost) return true
      throw error
    } finally {
      over.abort()
    }
  }

  /**
   * Executes commands in one exchange and updates `content`.
   * @returns for each command null, or the proxy's error text
   * @throws ProxyLost
   */
  async execute(commands: readonly Command[]): Promise<readonly (string | null)[]> {
    const texts = await Promise.all(commands.map((command) => this.#textOf(command)))
    const replies = await this.#socket.execute(texts.filter((text) => text !== null))
    let next = 0
    return commands.map((command, index) => {
      const refused =
        texts[index] === null ? 'its certificate is not on this node' : refusal(command, replies[next++] ?? '')
      if (refused === null) follow(this.#content, command)
      return refused
    })
  }

  /** Null if the command needs a file that does not exist. */
  async #textOf(command: Command): Promise<string | null> {
    if (!isTlsCommand(command)) return commandText(command, this.#files)
    const payload = payloadOf(command)
    const pem = payload === undefined ? '' : await readPem(this.#files.tls, payload)
    return pem === null ? null : tlsCommandText(command, this.#files.tls, pem)
  }

  /**
   * Compares a part of the real content with what is known, and reads it where it is other.
   * @param part an index of `CONTENT_PARTS`
   * @returns whether it is other than known
   * @throws ProxyLost
   */
  async refresh(part: number): Promise<boolean> {
    const known = this.#content
    const { isKnown, read } = CONTENT_PARTS[part]!
    if (await isKnown(this.#socket, this.#files, known)) return false
    this.#content = await read(this.#socket, this.#files, known)
    return true
  }

  /** Counters of all frontends, by slot. @throws ProxyLost */
  async counters(): Promise<ReadonlyMap<number, FrontendCounters>> {
    const [csv = ''] = await this.#socket.execute(['show stat -1 1 -1\n'])
    return parseFrontendStats(csv)
  }

  /** Counters of some frontends, or of more if these are many. @throws ProxyLost */
  async countersOf(slots: readonly number[]): Promise<ReadonlyMap<number, FrontendCounters>> {
    if (slots.length > MOST_ASKED_ALONE) return this.counters()
    const replies = await this.#socket.execute(slots.map((slot) => `show stat ${frontendName(slot)} 1 -1\n`))
    return new Map(replies.flatMap((csv) => [...parseFrontendStats(csv)]))
  }

  /** Counters of the servers of some backends, by slot. @throws ProxyLost */
  async serverCounters(slots: readonly number[]): Promise<ReadonlyMap<number, ReadonlyMap<string, ServerCounters>>> {
    const replies = await this.#socket.execute(slots.map((slot) => `show stat ${backendName(slot)} 4 -1\n`))
    return new Map(slots.map((slot, index) => [slot, parseServerStats(replies[index] ?? '')]))
  }

  /** Counters of backends and their servers, by slot. Each query costs a walk over all sections. @throws ProxyLost */
  async traffic(slots: readonly number[]): Promise<ReadonlyMap<number, BackendTraffic>> {
    const replies = await this.#socket.execute(slots.map((slot) => `show stat ${backendName(slot)} 6 -1\n`))
    return new Map(
      slots.flatMap((slot, index) => {
        const counted = parseTraffic(replies[index] ?? '')
        return counted === null ? [] : [[slot, counted] as const]
      }),
    )
  }

  /** Its number of clients' connections, and the maximum. @throws ProxyLost */
  async connections(): Promise<ReturnType<typeof parseInfo>> {
    const [info = '', table = ''] = await this.#socket.execute(['show info\n', `show table ${ALL}\n`])
    return parseInfo(info, table)
  }

  /** The copies of requests that it makes; null if it makes none. @throws ProxyLost */
  async mirrors(): Promise<ProxyMirrors | null> {
    const [text = ''] = await this.#socket.execute(['show mirrors\n'])
    return parseMirrors(text)
  }

  /** Closes the connection; the process continues. */
  detach(): void {
    this.#socket.close()
  }
}
