import type { Transport } from '@spout/model/protocols'
import { type FlowChange, flowChanges, memberFates } from '@spout/plan/member-fates'
import type { Clock, Timer } from '@spout/runtime'
import {
  type FlowEnd,
  type Log,
  type NativeHelper,
  readFileOrNull,
  type ServiceFlows,
  writeFileAtomically,
} from '@spout/sys'
import type { TrackedEntry, TrackedService } from './tracked-entry.ts'

/**
 * A cut is repeated, since a packet in flight, or a UDP member that sends first, may create the flow again. The
 * client's next packet then ends it, unless the member sends first again.
 */
const ROUNDS = 5
const ROUND_MS = 1_000
/** Rounds start at multiples of this time, so that members that go one after another share the kernel's table walks. */
const ROUNDS_AT_MS = 500
/** Pause between two runs. The first cut is made at once. */
const PAUSE_MS = 20
/** Per load balancer: a drain may last a day, and its members may change every second. */
const MOST_DRAINS = 10_000
/** Members in one request. */
const MOST_MEMBERS = 10_000
/**
 * Requests after which `run` yields. The kernel walks its whole flow table for each, including other domains' flows.
 * Members that all die at once must not delay the changes of others.
 */
const MOST_REQUESTS = 8

/** Flows to delete. Plain data: drains that are waiting are kept over a restart. */
interface Cut {
  readonly key: string
  readonly listenerId: string
  readonly transport: Transport
  readonly port: number
  readonly end: FlowEnd
  readonly reason: 'lost' | 'drained'
  /** Whether connections that can still carry traffic are deleted too. */
  readonly all: boolean
  /** Wall-clock ms, since it is kept over restarts. */
  readonly atMs: number
  readonly roundsLeft: number
}

/** Cuts of one service with the same properties. */
type Group = readonly Cut[]

export interface FlowCutsOptions {
  readonly helper: Pick<NativeHelper, 'conntrackDelete'>
  /** The path of the namespace of an entry's domain, and the entry in force; undefined if it is gone. */
  readonly find: (key: string) => { readonly netns: string; readonly entry: TrackedEntry } | undefined
  readonly clock: Clock
  readonly log: Log
  /** The file that keeps waiting drains for the next process; null keeps them in memory only. */
  readonly file: string | null
  /** `run` must be called now. */
  readonly onDue: () => void
}

/** Deletes tracked flows of members that were lost, and of members that left, at the end of their drain. */
export class FlowCuts {
  readonly #options: FlowCutsOptions
  readonly #cuts = new Map<string, Cut>()
  #timer: Timer | null = null
  #notBeforeMs = 0
  #saved = '[]'

  constructor(options: FlowCutsOptions) {
    this.#options = options
  }

  /** Continues the drains of an earlier process. Flows of members that are down were cut already. */
  async adopt(entries: Iterable<TrackedEntry>): Promise<void> {
    this.#cuts.clear()
    const saved = Map.groupBy(await this.#load(), ({ listenerId }) => listenerId)
    for (const entry of entries)
      for (const service of entry.services) {
        const known = saved.get(service.listenerId) ?? []
        const fates = known.length === 0 || service.members === null ? NO_FATES : memberFates(service.members)
        for (const cut of known) {
          const fate = fates.get(endText(cut.end))
          if (cut.key === entry.key && (fate === undefined || fate.isLeaving)) this.#cuts.set(nameOf(cut), cut)
        }
        for (const change of flowChanges(service.transport, null, service.members))
          if (change.what === 'drain' && !this.#cuts.has(drainName(service, change.end)))
            this.#note(entry, service, change)
      }
    this.#schedule()
  }

  /** Schedules the cuts that follow from the change of an entry. `run` makes those that are due. */
  follow(before: TrackedEntry | null, after: TrackedEntry): void {
    const former = new Map(before?.services.map((service) => [service.listenerId, service]))
    let drains = false
    for (const service of after.services) {
      const changes = flowChanges(service.transport, former.get(service.listenerId)?.members ?? null, service.members)
      for (const change of changes) this.#note(after, service, change)
      drains ||= changes.some(({ what }) => what === 'drain')
      former.delete(service.listenerId)
    }
    for (const gone of former.keys()) this.#drop((cut) => cut.listenerId === gone)
    if (drains && this.#cuts.size > MOST_DRAINS) this.#bound(after.key)
  }

  /** The entry is gone, and so are its flows. */
  forget(key: string): void {
    this.#drop((cut) => cut.key === key)
  }

  /**
   * Makes the cuts that are due. If there are too many for one run, `onDue` is called again for the rest. Never throws;
   * a failed cut is repeated in the next round.
   */
  async run(): Promise<void> {
    const now = this.#options.clock.now().getTime()
    const due = now < this.#notBeforeMs ? [] : [...this.#cuts].filter(([, { atMs }]) => atMs <= now)
    // Longest wait first: if a round takes more than a second, its first cuts are due again before its last are made.
    due.sort(([, one], [, other]) => one.atMs - other.atMs)
    let requests = 0
    for (const batch of this.#batches(due.map(([, cut]) => cut))) {
      for (const cut of batch.flat())
        if (cut.roundsLeft > 1)
          this.#cuts.set(nameOf(cut), { ...cut, atMs: nextRoundMs(now), roundsLeft: cut.roundsLeft - 1 })
        else this.#cuts.delete(nameOf(cut))
      requests += await this.#cut(batch)
      if (requests >= MOST_REQUESTS) break
    }
    const isAll = requests < MOST_REQUESTS
    // Cuts are also due if the clock was set back.
    if ((requests > 0 && isAll) || now < this.#notBeforeMs - PAUSE_MS) this.#notBeforeMs = now + PAUSE_MS
    this.#schedule()
    await this.#save()
  }

  close(): void {
    this.#timer?.clear()
    this.#timer = null
  }

  /** By domain, since its services share requests to the kernel. */
  #batches(due: readonly Cut[]): Iterable<readonly Group[]> {
    const groups = [...Map.groupBy(due, ({ key, listenerId, all }) => `${key} ${listenerId} ${all}`).values()]
    return Map.groupBy(groups, ([cut]) => this.#options.find(cut!.key)?.netns).values()
  }

  /** @param batch of one domain @returns how many requests it made */
  async #cut(batch: readonly Group[]): Promise<number> {
    const { helper, log, find } = this.#options
    const netns = find(batch[0]![0]!.key)?.netns
    if (netns === undefined) return 0
    const requests = inRequests(batch.flatMap((group) => this.#servicesOf(group)))
    for (const services of requests)
      try {
        await helper.conntrackDelete({ netns, services })
      } catch (error) {
        log.warn({ netns, services: services.length, error: String(error) }, 'flows of members were not deleted')
      }
    return requests.length
  }

  /** The flows of a service at each of its VIPs. */
  #servicesOf(group: Group): readonly ServiceFlows[] {
    const { key, transport: protocol, port, all } = group[0]!
    const ends = group.map(({ end }) => end)
    return (this.#options.find(key)?.entry.vips ?? []).flatMap(({ address }) => {
      const members = ends.filter((end) => end.address.includes(':') === address.includes(':'))
      const unestablished = protocol === 'tcp' && !all
      return Array.from({ length: Math.ceil(members.length / MOST_MEMBERS) }, (_, at) => ({
        ...{ protocol, destination: address, port, unestablished },
        members: members.slice(at * MOST_MEMBERS, (at + 1) * MOST_MEMBERS),
      }))
    })
  }

  #note(entry: TrackedEntry, { listenerId, transport, port }: TrackedService, change: FlowChange): void {
    const { end } = change
    const lost = `lost ${listenerId} ${endText(end)}`
    if (change.what === 'keep') {
      this.#cuts.delete(lost)
      this.#cuts.delete(drainName({ listenerId }, end))
      return
    }
    // A repeated cut also covers a member that leaves meanwhile.
    const all = change.what === 'drain' || change.all || this.#cuts.get(lost)?.all === true
    const atMs = this.#options.clock.now().getTime() + (change.what === 'drain' ? change.afterMs : 0)
    const reason = change.what === 'drain' ? 'drained' : 'lost'
    const cut = { key: entry.key, listenerId, transport, port, end, reason, all, atMs, roundsLeft: ROUNDS } as const
    this.#cuts.set(nameOf(cut), cut)
  }

  /** Ends the drains with the earliest deadlines now, beyond the maximum. */
  #bound(key: string): void {
    const drains = [...this.#cuts].filter(([, cut]) => cut.key === key && cut.reason === 'drained')
    if (drains.length <= MOST_DRAINS) return
    const now = this.#options.clock.now().getTime()
    drains.sort(([, one], [, other]) => one.atMs - other.atMs)
    for (const [name, cut] of drains.slice(0, drains.length - MOST_DRAINS))
      this.#cuts.set(name, { ...cut, atMs: Math.min(cut.atMs, now) })
  }

  #drop(isGone: (cut: Cut) => boolean): void {
    for (const [name, cut] of this.#cuts) if (isGone(cut)) this.#cuts.delete(name)
  }

  #schedule(): void {
    this.#timer?.clear()
    this.#timer = null
    const next = this.#cuts.values().reduce((least, { atMs }) => Math.min(least, atMs), Number.POSITIVE_INFINITY)
    if (next === Number.POSITIVE_INFINITY) return
    const { clock, onDue } = this.#options
    this.#timer = clock.setTimer(onDue, Math.max(0, Math.max(next, this.#notBeforeMs) - clock.now().getTime()))
  }

  async #load(): Promise<readonly Cut[]> {
    const { file, log } = this.#options
    if (file === null) return []
    try {
      this.#saved = (await readFileOrNull(file))?.toString('utf8') ?? '[]'
      return JSON.parse(this.#saved) as readonly Cut[]
    } catch (error) {
      log.warn({ file, error: String(error) }, 'drains of an earlier agent cannot be read')
      return []
    }
  }

  async #save(): Promise<void> {
    const { file, log } = this.#options
    if (file === null) return
    const text = JSON.stringify([...this.#cuts.values()].filter(({ reason }) => reason === 'drained'))
    if (text === this.#saved) return
    try {
      await writeFileAtomically(file, text)
      this.#saved = text
    } catch (error) {
      log.warn({ file, error: String(error) }, 'drains cannot be kept over a restart')
    }
  }
}

/** Groups services so that each request has at most the maximum of members. */
function inRequests(services: readonly ServiceFlows[]): readonly (readonly ServiceFlows[])[] {
  const requests: ServiceFlows[][] = []
  let members = Number.POSITIVE_INFINITY
  for (const service of services) {
    members += service.members?.length ?? 0
    if (members > MOST_MEMBERS) {
      requests.push([])
      members = service.members?.length ?? 0
    }
    requests.at(-1)!.push(service)
  }
  return requests
}

const nextRoundMs = (nowMs: number): number => Math.ceil((nowMs + ROUND_MS) / ROUNDS_AT_MS) * ROUNDS_AT_MS

const NO_FATES: ReturnType<typeof memberFates> = new Map()
const endText = ({ address, port }: FlowEnd): string => `${address} ${port}`
const drainName = ({ listenerId }: Pick<TrackedService, 'listenerId'>, end: FlowEnd): string =>
  `drained ${listenerId} ${endText(end)}`
const nameOf = ({ reason, listenerId, end }: Cut): string => `${reason} ${listenerId} ${endText(end)}`
