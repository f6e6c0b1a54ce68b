import type { BgpSettings } from '@spout/model/node-state'
import { type BgpSession, type DroppedSegments, sessionsOf, steadyTimes } from './bgp-session.ts'
import { BirdDaemon } from './bird-daemon.ts'
import { ownerNamed } from './bird-files.ts'
import { peerSymbol } from './bird-text.ts'
import { BirdLost } from './control-socket.ts'
import { NONE_DROPPED, readDroppedSegments } from './dropped-segments.ts'
import { LostNeighbours } from './lost-neighbours.ts'
import {
  BFD_LISTEN_PORT,
  type BgpOptions,
  DEFAULT_ANNOUNCE_TABLE,
  DEFAULT_BIRD,
  DEFAULT_BIRD_USER,
  DEFAULT_LISTEN_PORT,
} from './options.ts'
import { renderBfd } from './render-bfd.ts'
import { renderBgp } from './render-bgp.ts'
import { parseBfd } from './show-bfd.ts'
import { parseProtocols } from './show-protocols.ts'

/** The two daemons of a node, one for BGP and one for BFD, so that one survives the other's end. */
export class BgpDaemons {
  readonly #options: BgpOptions
  readonly #bgp: BirdDaemon
  readonly #bfd: BirdDaemon
  /** Neighbours of unnumbered sessions, by peer id. */
  #found: ReadonlyMap<string, string> = new Map()
  #told: readonly BgpSession[] = []
  readonly #lost = new LostNeighbours()
  /** Counters from before the sessions last got other settings. */
  #droppedBefore: DroppedSegments | null = null

  private constructor(options: BgpOptions, bgp: BirdDaemon, bfd: BirdDaemon) {
    this.#options = options
    this.#bgp = bgp
    this.#bfd = bfd
  }

  /** Starts nothing. @throws ExecError if the user does not exist */
  static async create(options: BgpOptions): Promise<BgpDaemons> {
    const { executable = DEFAULT_BIRD, user = DEFAULT_BIRD_USER, config, log, clock, runDirectory } = options
    const owner = await ownerNamed(user)
    const namespace = config.rootNamespace ?? null
    const make = (name: 'bgp' | 'bfd') =>
      new BirdDaemon({
        name,
        directory: `${runDirectory}/${name}`,
        owner,
        command: { executable, user, namespace, realTime: name === 'bfd' },
        gracefulRestart: name === 'bgp',
        log,
        clock,
      })
    return new BgpDaemons(options, make('bgp'), make('bfd'))
  }

  get counters(): { readonly starts: number; readonly reconfigurations: number } {
    const [bgp, bfd] = [this.#bgp.counters, this.#bfd.counters]
    return { starts: bgp.starts + bfd.starts, reconfigurations: bgp.reconfigurations + bfd.reconfigurations }
  }

  /** Process ids, null for one that does not run. */
  get pids(): { readonly bgp: number | null; readonly bfd: number | null } {
    return { bgp: this.#bgp.process?.pid ?? null, bfd: this.#bfd.process?.pid ?? null }
  }

  async adopt(): Promise<void> {
    await this.#bgp.adopt()
    await this.#bfd.adopt()
  }

  /** @throws BirdRefused with nothing changed; ExecError if a daemon does not start */
  async configure(settings: BgpSettings): Promise<void> {
    const place = this.#place
    await this.#bgp.configure(
      renderBgp(settings, {
        ...place,
        logFile: this.#bgp.logFile,
        table: this.#options.table ?? DEFAULT_ANNOUNCE_TABLE,
      }),
    )
    await this.#configureBfd(settings)
    const pid = this.#bgp.process?.pid
    this.#droppedBefore = pid === undefined ? null : await readDroppedSegments(pid)
  }

  async stop(): Promise<void> {
    await this.#bgp.stop()
    await this.#bfd.stop()
  }

  async close(): Promise<void> {
    await this.#bgp.close()
    await this.#bfd.close()
  }

  /** Also gives the BFD daemon the unnumbered neighbours that were found. Never throws. */
  async sessions(settings: BgpSettings): Promise<readonly BgpSession[]> {
    const [shown, bfd, dropped] = await Promise.all([
      this.#bgp.command('show protocols all').then(parseProtocols, nothingWhenLost),
      this.#bfd.command('show bfd sessions').then(parseBfd, nothingWhenLost),
      this.#dropped(),
    ])
    const sessions = steadyTimes(this.#told, sessionsOf(settings, shown, bfd, dropped, this.#options.clock.now()))
    this.#told = sessions
    await this.#find(settings, sessions)
    return sessions
  }

  /**
   * Reads the sessions and ends those whose neighbour BFD lost, so that the neighbour can connect again. Never throws.
   */
  async follow(settings: BgpSettings): Promise<readonly BgpSession[]> {
    const sessions = await this.sessions(settings)
    for (const peerId of this.#lost.find(sessions)) {
      const name = peerSymbol('peers.id', peerId)
      this.#options.log.info({ peerId }, 'BFD lost the peer of a session, which is restarted')
      await this.#bgp.command(`restart "${name}*"`).catch(nothingWhenLost)
    }
    return sessions
  }

  get #place() {
    const { config, listenPort = DEFAULT_LISTEN_PORT } = this.#options
    return { fabricInterface: config.fabricInterface, listenPort }
  }

  async #configureBfd(settings: BgpSettings): Promise<void> {
    const place = { ...this.#place, logFile: this.#bfd.logFile, listenPort: BFD_LISTEN_PORT }
    const text = renderBfd(settings, place, this.#found)
    if (text === null) await this.#bfd.stop()
    else await this.#bfd.configure(text)
  }

  async #find(settings: BgpSettings, sessions: readonly BgpSession[]): Promise<void> {
    const unnumbered = new Set(settings.peers.flatMap(({ id, address }) => (address === null ? [id] : [])))
    const found = new Map(this.#found)
    for (const { peerId, address } of sessions)
      if (unnumbered.has(peerId) && address !== null) found.set(peerId, address)
    if ([...found].every(([id, address]) => this.#found.get(id) === address)) return
    this.#found = found
    await this.#configureBfd(settings).catch((error: unknown) =>
      this.#options.log.warn({ error: String(error) }, 'the BFD daemon was not given a neighbour'),
    )
  }

  async #dropped(): Promise<DroppedSegments> {
    const pid = this.#bgp.process?.pid
    if (pid === undefined) return NONE_DROPPED
    const { wrong, unexpected } = await readDroppedSegments(pid)
    this.#droppedBefore ??= { wrong, unexpected }
    const before = this.#droppedBefore
    return { wrong: wrong - before.wrong, unexpected: unexpected - before.unexpected }
  }
}

const nothingWhenLost = (error: unknown): [] => {
  if (error instanceof BirdLost) return []
  throw error
}
