import { type Clock, pause } from '@spout/runtime'
import { isRunning, type ProcessIdentity } from '@spout/sys'
import { type Command, commandText, follow, refusal } from './command.ts'
import { backendName, frontendName, type ProxyContent } from './content.ts'
import { MAPS } from './maps.ts'
import type { ProxyFiles } from './proxy-files.ts'
import {
  type FrontendCounters,
  parseFrontendStats,
  parseInfo,
  parseMaps,
  parseServerStats,
  parseServers,
  type ServerCounters,
} from './show.ts'
import { StatsSocket } from './stats-socket.ts'

const LOOK_EVERY_MS = 2
/** Each costs the process a walk over all its sections. */
const MOST_ASKED_ALONE = 8

/** A connected proxy process, and its content. */
export class RunningProxy {
  readonly process: ProcessIdentity
  readonly generation: number
  readonly #files: ProxyFiles
  readonly #socket: StatsSocket
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
   * @param content its known content; null to read it from the process
   * @param onLost called once when the process is gone, or closed the connection
   * @throws ProxyLost
   */
  static async attach(
    process: ProcessIdentity,
    generation: number,
    files: ProxyFiles,
    content: ProxyContent | null,
    onLost: () => void,
  ): Promise<RunningProxy> {
    const socket = await StatsSocket.connect(files.statsSocket(generation), onLost)
    try {
      return new RunningProxy(process, generation, files, socket, content ?? (await readContent(socket, files)))
    } catch (error) {
      socket.close()
      throw error
    }
  }

  get content(): ProxyContent {
    return this.#content
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
   * Executes commands in one exchange and updates `content`.
   * @returns for each command null, or the proxy's error text
   * @throws ProxyLost
   */
  async execute(commands: readonly Command[]): Promise<readonly (string | null)[]> {
    const replies = await this.#socket.execute(commands.map((command) => commandText(command, this.#files.map)))
    return commands.map((command, index) => {
      const refused = refusal(command, replies[index] ?? '')
      if (refused === null) follow(this.#content, command)
      return refused
    })
  }

  /** Reads the real content from the process. @throws ProxyLost */
  async refresh(): Promise<void> {
    this.#content = await readContent(this.#socket, this.#files)
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

  /** Its number of connections, and the maximum. @throws ProxyLost */
  async connections(): Promise<ReturnType<typeof parseInfo>> {
    const [text = ''] = await this.#socket.execute(['show info\n'])
    return parseInfo(text)
  }

  /** Closes the connection; the process continues. */
  detach(): void {
    this.#socket.close()
  }
}

async function readContent(socket: StatsSocket, files: ProxyFiles): Promise<ProxyContent> {
  const [servers = '', ...maps] = await socket.execute([
    'show servers state\n',
    ...MAPS.map((map) => `show map ${files.map(map)}\n`),
  ])
  const texts = Object.fromEntries(MAPS.map((map, index) => [map, maps[index] ?? ''])) as Record<
    (typeof MAPS)[number],
    string
  >
  return { backends: parseServers(servers), ...parseMaps(texts) }
}
