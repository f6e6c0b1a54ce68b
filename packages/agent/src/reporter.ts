import { loadBalancerKey } from '@spout/model/entry-keys'
import { isLocalKey, LOCAL_SHARD } from '@spout/model/local-entries'
import {
  type EntryReport,
  type MemberHealth,
  type NodeReport,
  RESPONSE_CLASSES,
  type ServiceStats,
} from '@spout/model/node-report'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { type Clock, type Logger, pause } from '@spout/runtime'
import { type AgentFigures, countedOf } from './figures.ts'
import { localReports } from './local-reports.ts'

export interface ReporterOptions {
  /** Random, new at each start of the agent. */
  readonly session: string
  /** What the node offers now. */
  readonly features: () => readonly string[]
  /** The load balancers of the node's own settings. Absent: nothing is said of them. */
  readonly local?: readonly LoadBalancerEntry[]
  /** Null: there is no control plane. */
  readonly send: ((report: NodeReport, signal: AbortSignal) => Promise<{ readonly resend: boolean }>) | null
  readonly clock: Clock
  readonly log: Logger
  readonly heartbeatMs?: number
}

/** Report fields about the node itself: its group membership, shares, access logs and version. */
export type NodeNews = Pick<NodeReport, (typeof NEWS)[number]>
const NEWS = [
  'shards',
  'bgpSessions',
  'flows',
  'departure',
  'addressConflicts',
  'fabricAddress',
  'sights',
  'overShares',
  'logTroubles',
  'version',
] as const

/** Limits of one report. The rest follows at once in the next one. */
const MOST_ENTRIES = 500
const MOST_MEMBERS = 5000
const MOST_STATS = 1000
/** Limit of counts by pool and route in one report, of which a tenant can have many: some 300 kB as JSON. */
const MOST_COUNTS = 20_000
const HEARTBEAT_MS = 1000

/**
 * Reports entries, members and counters of this node to the control plane: at once after a change, and at least once
 * per heartbeat. Changes while a report is under way are merged into the next one. What did not arrive is reported
 * again. The load balancers of the node's own settings are a part of every report, in a field of their own.
 */
export class Reporter {
  readonly #options: ReporterOptions
  readonly #entries = new Map<string, EntryReport>()
  readonly #members = new Map<string, MemberHealth>()
  /** By listener id. */
  readonly #stats = new Map<string, ServiceStats>()
  readonly #localStats = new Map<string, ServiceStats>()
  #localTold = false
  /** Changes that the control plane has not acknowledged, by key of the maps above. */
  readonly #unreported = {
    entries: new Set<string>(),
    removed: new Set<string>(),
    members: new Set<string>(),
    stats: new Set<string>(),
    news: new Set<keyof NodeNews>(),
  }
  #news: NodeNews = {}
  #sequence = 0
  readonly #reports = { arrived: 0, failed: 0 }
  #lastReportAtMs: number | null = null
  #inSync = false
  #inSyncTold = false
  #stop: AbortController | null = null
  #wake: () => void = () => {}
  #running: Promise<void> | null = null

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  entry(report: EntryReport): void {
    this.#entries.set(report.key, report)
    if (!isLocalKey(report.key)) {
      this.#unreported.removed.delete(report.key)
      this.#unreported.entries.add(report.key)
    }
    this.#wake()
  }

  removed(key: string): void {
    this.#entries.delete(key)
    if (isLocalKey(key)) return
    this.#unreported.entries.delete(key)
    this.#unreported.removed.add(key)
    this.#wake()
  }

  member(health: MemberHealth): void {
    const key = memberKey(health)
    this.#members.set(key, health)
    if (!isLocalBalancer(health)) this.#unreported.members.add(key)
    this.#wake()
  }

  /** The member is no longer probed, so its health is no longer reported. */
  memberGone(member: Pick<MemberHealth, 'loadBalancerId' | 'memberId'>): void {
    this.#members.delete(memberKey(member))
    this.#unreported.members.delete(memberKey(member))
  }

  /** Counters are part of the next report, but do not trigger one. */
  stats(all: readonly ServiceStats[]): void {
    for (const stats of all) {
      const { listenerId } = stats
      if (isLocalBalancer(stats)) {
        this.#localStats.set(listenerId, stats)
        continue
      }
      const known = this.#stats.get(listenerId)
      if (known === stats || sameStats(known, stats)) continue
      this.#stats.set(listenerId, stats)
      this.#unreported.stats.add(listenerId)
    }
  }

  /** Sets report fields about the node. Absent fields are unchanged. */
  tell(news: NodeNews): void {
    const changed = NEWS.filter((key) => key in news && JSON.stringify(news[key]) !== JSON.stringify(this.#news[key]))
    if (changed.length === 0) return
    this.#news = { ...this.#news, ...news }
    for (const key of changed) this.#unreported.news.add(key)
    this.#wake()
  }

  /** Sets whether the agent has tried to apply every entry of the last full set. */
  inSync(value: boolean): void {
    this.#inSync = value
    if (value !== this.#inSyncTold) this.#wake()
  }

  figures(): Omit<AgentFigures, 'transactions' | 'reloads' | 'shares'> {
    const { shards = [], bgpSessions = [] } = this.#news
    return {
      inSync: this.#inSync,
      ...countedOf({ entries: this.#entries.values(), members: this.#members.values(), shards, bgpSessions }),
      reports: { ...this.#reports },
      lastReportAtMs: this.#lastReportAtMs,
    }
  }

  start(): void {
    const { send } = this.#options
    if (this.#running !== null || send === null) return
    this.#stop = new AbortController()
    this.#running = this.#run(send, this.#stop.signal)
  }

  async stop(): Promise<void> {
    this.#stop?.abort()
    this.#wake()
    await this.#running
    this.#running = null
  }

  async #run(send: NonNullable<ReporterOptions['send']>, signal: AbortSignal): Promise<void> {
    const { clock, log, heartbeatMs = HEARTBEAT_MS } = this.#options
    while (!signal.aborted) {
      const report = this.#compose()
      try {
        const { resend } = await send(report, signal)
        this.#inSyncTold = report.inSync
        this.#localTold = true
        this.#reports.arrived++
        this.#lastReportAtMs = clock.now().getTime()
        if (resend) this.#tellAll()
      } catch (error) {
        this.#takeBack(report)
        if (!signal.aborted) this.#reports.failed++
        log.debug({ event: 'report-failed', err: error }, 'the report did not arrive')
        // Even if something changes meanwhile: over a failing link, reports are sent at most once per heartbeat.
        await pause(clock, heartbeatMs, signal)
        continue
      }
      if (!this.#urgent()) await this.#sleep(heartbeatMs, signal)
    }
  }

  #urgent(): boolean {
    const { entries, removed, members, news } = this.#unreported
    return entries.size + removed.size + members.size + news.size > 0 || this.#inSync !== this.#inSyncTold
  }

  async #sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => {
      // Further calls do nothing, since each `abort` would create an exception object.
      this.#wake = () => {}
      woken.abort()
    }
    if (!signal.aborted) await pause(this.#options.clock, delayMs, woken.signal)
    this.#wake = () => {}
  }

  #compose(): NodeReport {
    const { entries, removed, members, stats, news } = this.#unreported
    const report = {
      session: this.#options.session,
      sequence: ++this.#sequence,
      entries: take(entries, MOST_ENTRIES, this.#entries),
      removed: [...removed],
      members: take(members, MOST_MEMBERS, this.#members),
      stats: take(stats, MOST_STATS, this.#stats, { of: countsIn, most: MOST_COUNTS }),
      features: this.#options.features(),
      ...Object.fromEntries(Array.from(news, (key) => [key, this.#newsOf(key)])),
      ...this.#localPart(),
    }
    removed.clear()
    news.clear()
    return { ...report, inSync: this.#inSync && entries.size === 0 && members.size === 0 }
  }

  /** Most nodes have none, and say so once. */
  #localPart(): Pick<NodeReport, 'local'> {
    const { local } = this.#options
    if (local === undefined || (local.length === 0 && this.#localTold)) return {}
    const isMaster =
      this.#news.shards?.some(({ number, state }) => number === LOCAL_SHARD && state === 'master') ?? false
    const [entry, stats] = [(key: string) => this.#entries.get(key), (id: string) => this.#localStats.get(id)]
    return {
      local: localReports(local, { entry, stats, isMaster, member: (one) => this.#members.get(memberKey(one)) }),
    }
  }

  /** Without the shard of the node's own settings. */
  #newsOf(key: keyof NodeNews): NodeNews[keyof NodeNews] {
    return key === 'shards' ? this.#news.shards?.filter(({ number }) => number !== LOCAL_SHARD) : this.#news[key]
  }

  #takeBack(report: NodeReport): void {
    for (const entry of report.entries) if (this.#entries.has(entry.key)) this.#unreported.entries.add(entry.key)
    for (const key of report.removed) if (!this.#entries.has(key)) this.#unreported.removed.add(key)
    for (const member of report.members)
      if (this.#members.has(memberKey(member))) this.#unreported.members.add(memberKey(member))
    for (const { listenerId } of report.stats) this.#unreported.stats.add(listenerId)
    for (const key of NEWS) if (key in report) this.#unreported.news.add(key)
  }

  #tellAll(): void {
    this.#localTold = false
    for (const key of this.#entries.keys()) if (!isLocalKey(key)) this.#unreported.entries.add(key)
    for (const [key, member] of this.#members) if (!isLocalBalancer(member)) this.#unreported.members.add(key)
    for (const key of this.#stats.keys()) this.#unreported.stats.add(key)
    for (const key of NEWS) if (key in this.#news) this.#unreported.news.add(key)
  }
}

const isLocalBalancer = ({ loadBalancerId }: Pick<MemberHealth, 'loadBalancerId'>): boolean =>
  isLocalKey(loadBalancerKey(loadBalancerId))

const memberKey = (member: Pick<MemberHealth, 'loadBalancerId' | 'memberId'>): string =>
  `${member.loadBalancerId}/${member.memberId}`

/** How many counts by pool and route the statistics of a listener contain. */
function countsIn({ http }: ServiceStats): number {
  const { pools = {}, routes = {} } = http?.parts ?? {}
  const parts = [...Object.values(pools), ...Object.values(routes)]
  return parts.reduce((sum, { latencies }) => sum + RESPONSE_CLASSES.length + latencies.length, 0)
}

/** Limits the total size of the values that are taken. */
interface Room<T> {
  readonly of: (value: T) => number
  readonly most: number
}

/**
 * Takes up to `most` values whose total size is within `room`, and removes their keys. Values of size 0 always fit. A
 * value that does not fit keeps its key, and so comes before the others in the next report. The first value with a size
 * is always taken, so that each has its turn.
 */
function take<T>(
  keys: Set<string>,
  most: number,
  values: ReadonlyMap<string, T>,
  room: Room<T> = { of: () => 0, most: 0 },
): readonly T[] {
  const taken: T[] = []
  let used = 0
  for (const key of keys) {
    if (taken.length === most) break
    const value = values.get(key)
    const size = value === undefined ? 0 : room.of(value)
    if (size > 0 && used > 0 && used + size > room.most) continue
    used += size
    keys.delete(key)
    if (value !== undefined) taken.push(value)
  }
  return taken
}

const sameStats = (a: ServiceStats | undefined, b: ServiceStats): boolean =>
  a !== undefined &&
  a.bytesIn === b.bytesIn &&
  a.bytesOut === b.bytesOut &&
  a.activeConnections === b.activeConnections &&
  a.totalConnections === b.totalConnections &&
  a.requestErrors === b.requestErrors &&
  // Responses need no comparison, since each also changes the bytes.
  a.http?.requests === b.http?.requests &&
  // Equal counts stay the same object.
  a.http?.latencies === b.http?.latencies
