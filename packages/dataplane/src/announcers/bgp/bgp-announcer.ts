import { join } from 'node:path'
import type { BgpSettings, GroupEntry } from '@spout/model/node-state'
import { Mutex } from '@spout/runtime'
import { makeRunDirectory } from '@spout/sys'
import type { Announcement, AnnouncementDifference, AnnouncementOutcome, Announcer } from '../../contracts/announcer.ts'
import type { GroupReport } from '../../contracts/group-follower.ts'
import { rootNetns } from '../../domain/domain-config.ts'
import { LeftoversGrace } from '../../domain/leftovers-grace.ts'
import { routesOf, type WantedRoute } from './announced-routes.ts'
import { BgpDaemons } from './bgp-daemons.ts'
import type { BgpSession } from './bgp-session.ts'
import { checkBgpSettings } from './check-settings.ts'
import { reportedSession } from './node-report.ts'
import { type BgpOptions, DEFAULT_ANNOUNCE_TABLE } from './options.ts'
import { SessionWatch } from './session-watch.ts'
import { readSettings, removeSettings, writeSettings } from './settings-file.ts'
import { SharedRoutes } from './shared-routes.ts'

/**
 * Announces addresses to routers by BGP. Each address is a route in a kernel table that a BIRD process learns from. So
 * adding or removing an address touches neither the daemon's configuration nor its sessions.
 */
export class BgpAnnouncer implements Announcer {
  readonly name = 'bgp'
  readonly followsShards = true
  readonly #options: BgpOptions
  readonly #table: number
  readonly #routes: SharedRoutes
  readonly #wanted = new Map<string, Announcement>()
  readonly #grace: LeftoversGrace
  readonly #watch: SessionWatch
  #daemons: BgpDaemons | null = null
  #settings: BgpSettings | null = null
  /** How the group's settings drain routers; null without settings. */
  #drain: BgpSettings['drain'] | null = null
  /** The addresses that were announced when the kernel had this mark. */
  #seen: { readonly mark: string; present: readonly Announcement[] | null } | null = null
  readonly #mutex = new Mutex()

  constructor(options: BgpOptions) {
    this.#options = options
    this.#table = options.table ?? DEFAULT_ANNOUNCE_TABLE
    const netns = rootNetns(options.config)
    this.#routes = new SharedRoutes({ helper: options.helper, netns, table: this.#table })
    this.#grace = new LeftoversGrace(options)
    this.#watch = new SessionWatch(options.clock, () => this.#follow())
  }

  /** Counts requests that changed routes, daemon starts and reconfigurations. */
  get counters(): { readonly changes: number; readonly starts: number; readonly reconfigurations: number } {
    return { changes: this.#routes.changes, ...(this.#daemons?.counters ?? { starts: 0, reconfigurations: 0 }) }
  }

  /** Process ids of the daemons; null for one that does not run. */
  get pids(): { readonly bgp: number | null; readonly bfd: number | null } {
    return this.#daemons?.pids ?? { bgp: null, bfd: null }
  }

  /**
   * Configures the daemons; null ends them and withdraws everything. Does nothing if nothing differs. Unchanged
   * sessions stay up. Addresses follow their advertisements.
   * @throws BgpSettingsError naming the field, BirdRefused, ExecError; the old settings stay in force
   */
  configure(settings: BgpSettings | null, signal: AbortSignal): Promise<void> {
    return this.#mutex.run(async () => {
      signal.throwIfAborted()
      if (settings === null) return this.#end()
      checkBgpSettings(settings)
      const daemons = await this.#begin()
      await daemons.configure(settings)
      const before = this.#settings
      this.#settings = settings
      if (JSON.stringify(before) === JSON.stringify(settings)) return
      await writeSettings(this.#settingsFile, settings)
      await this.#place([...this.#wanted.values()], [], signal)
    })
  }

  async follow(entry: Pick<GroupEntry, 'bgp'> | null, signal: AbortSignal): Promise<void> {
    const settings = entry?.bgp ?? null
    await this.configure(settings, signal)
    // Not before: an address is not released while the daemon still announces it.
    this.#drain = settings?.drain ?? null
  }

  async report(): Promise<GroupReport> {
    return { bgpSessions: (await this.sessions()).map(reportedSession) }
  }

  /** @returns a function that unsubscribes */
  onReport(listener: (report: GroupReport) => void): () => void {
    return this.onSessionChange((sessions) => listener({ bgpSessions: sessions.map(reportedSession) }))
  }

  attracts(): boolean {
    return this.#drain !== null && this.#drain !== 'withdrawn'
  }

  /** While routers are only asked to prefer others, this node may still get new connections. */
  hasReleased(): boolean | null {
    return this.#drain === null ? null : this.#drain !== 'prefer-others'
  }

  /** Takes over daemons and routes of an earlier process. The next `apply` adds missing routes of `previous`. */
  adopt(previous: readonly Announcement[]): Promise<void> {
    return this.#mutex.run(async () => {
      this.#settings ??= await readSettings(this.#settingsFile)
      if (this.#settings !== null) await (await this.#begin()).adopt()
      this.#wanted.clear()
      for (const announcement of previous) this.#wanted.set(announcement.address, announcement)
      await this.#routes.adopt(new Map(previous.map((each) => [each.address, this.#routesOf(each)])))
      this.#grace.begin()
      this.#seen = null
    })
  }

  apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<readonly AnnouncementOutcome[]> {
    return this.#mutex.run(() => {
      const staying = new Set(wanted.map(({ address }) => address))
      return this.#place(
        wanted,
        [...this.#wanted.keys()].filter((address) => !staying.has(address)),
        signal,
      )
    })
  }

  change({ come, go }: AnnouncementDifference, signal: AbortSignal): Promise<readonly AnnouncementOutcome[]> {
    return this.#mutex.run(() => {
      const coming = new Set(come.map(({ address }) => address))
      return this.#place(
        come,
        go.flatMap(({ address }) => (coming.has(address) ? [] : [address])),
        signal,
      )
    })
  }

  /** Announcements whose routes are in the kernel. `sessions` tells whether routers have received them. */
  observe(): Promise<readonly Announcement[]> {
    return this.#mutex.run(async () => {
      const mark = await this.#options.helper.rtnlMark({ netns: rootNetns(this.#options.config) })
      if (this.#seen?.mark !== mark) {
        await this.#routes.observe()
        this.#seen = { mark, present: null }
      }
      this.#seen.present ??= [...this.#wanted.values()].filter(({ address }) => this.#routes.isHeld(address))
      return this.#seen.present
    })
  }

  /** The session with each peer, in the order of the settings; empty without settings. */
  async sessions(): Promise<readonly BgpSession[]> {
    return this.#settings === null || this.#daemons === null ? [] : this.#daemons.sessions(this.#settings)
  }

  async #follow(): Promise<readonly BgpSession[]> {
    return this.#settings === null || this.#daemons === null ? [] : this.#daemons.follow(this.#settings)
  }

  /**
   * Calls the listener within seconds after a session goes up or down, or the reason changes why it is down. It must
   * not throw.
   */
  onSessionChange(listener: (sessions: readonly BgpSession[]) => void): () => void {
    return this.#watch.add(listener)
  }

  /** Releases the daemons, which continue with everything that is announced. */
  async close(): Promise<void> {
    this.#watch.stop()
    await this.#mutex.idle()
    await this.#daemons?.close()
  }

  get #settingsFile(): string {
    return join(this.#options.runDirectory, 'settings.json')
  }

  async #begin(): Promise<BgpDaemons> {
    // The daemons' user may traverse it; the directories below are closed.
    await makeRunDirectory(this.#options.runDirectory, 0o711)
    this.#daemons ??= await BgpDaemons.create(this.#options)
    this.#watch.start()
    return this.#daemons
  }

  async #end(): Promise<void> {
    this.#settings = null
    this.#seen = null
    this.#watch.end()
    // Withdrawn first, while the sessions are still up.
    await this.#routes.change(new Map([...this.#wanted.keys()].map((address) => [address, []])), true)
    this.#daemons ??= await BgpDaemons.create(this.#options)
    await this.#daemons.stop()
    await removeSettings(this.#settingsFile).catch(() => undefined)
  }

  #routesOf(announcement: Announcement): readonly WantedRoute[] {
    const found = routesOf(announcement, this.#settings, this.#table)
    return 'error' in found ? [] : found.routes
  }

  async #place(
    coming: readonly Announcement[],
    going: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly AnnouncementOutcome[]> {
    signal.throwIfAborted()
    const changes = new Map<string, readonly WantedRoute[]>(going.map((address) => [address, []]))
    const errors = new Map<string, string>()
    for (const announcement of coming) {
      const found = routesOf(announcement, this.#settings, this.#table)
      if ('error' in found) errors.set(announcement.address, found.error)
      changes.set(announcement.address, 'error' in found ? [] : found.routes)
    }
    for (const address of going) this.#wanted.delete(address)
    for (const announcement of coming) this.#wanted.set(announcement.address, announcement)
    const refused = await this.#routes.change(changes, this.#grace.isOver)
    if (this.#seen !== null) this.#seen.present = null
    for (const [address, words] of refused) errors.set(address, words)
    return coming.map((announcement) => ({ announcement, error: errors.get(announcement.address) ?? null }))
  }
}
