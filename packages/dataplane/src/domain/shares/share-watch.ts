import type { OverShareReport, ShareName } from '@spout/model/node-report'
import type { Log } from '@spout/sys'

/** The use of one share by one domain. */
export interface ShareUse {
  readonly share: ShareName
  /** The load balancer whose own proxy it is; absent: the share is the domain's. */
  readonly loadBalancerId?: string
  /** Limit per second, or at a time. */
  readonly limit: number
  /** Current use; null if not known. */
  readonly used: number | null
  /** Refusals since counting began; null if `isOver` is set. */
  readonly refused: number | null
  /** Whether it wants more than its limit now. Absent: it does when there are new refusals. */
  readonly isOver?: boolean
}

/** Reads the use of some shares by domains. */
export interface ShareSource {
  read(domain: number): Promise<readonly ShareUse[]>
  forget?(domain: number): void
}

/** Sums over all domains, for `/metrics`. By share, so that the number of figures is fixed. */
export interface ShareFigures {
  readonly refused: number
  /** The highest use of a share by one domain; 1 is all of it. Null if not known. */
  readonly mostUsed: number | null
  /** Domains that want more than their share. */
  readonly over: number
}

export interface ShareWatchOptions {
  readonly domains: () => Iterable<number>
  readonly sources: readonly ShareSource[]
  readonly log: Log
  readonly now?: () => number
}

/** A domain without refusals for this long is within its share again. */
const QUIET_MS = 60_000
/** At most this many domains are reported. */
const MOST_REPORTS = 1_000
/** At most this part of the time is spent on reading. */
const SHARE_OF_TIME = 0.01
/**
 * What takes longer for each use was waiting: for a processor, or for a proxy that is slowed down since it wants too
 * much. Otherwise the proxy of one tenant could delay what all are told.
 */
const MOST_MS_OF_USE = 5

interface Over extends Whose {
  /** When it last wanted more. */
  readonly lastMs: number
  /** When it was last refused; null for never. */
  readonly refusedMs: number | null
  readonly limit: number
}

type Whose = Pick<ShareUse, 'share' | 'loadBalancerId'>
const keyOf = ({ share, loadBalancerId = '' }: Whose): string => `${share} ${loadBalancerId}`

/** Watches which tenant networks want more of this node than their share, and counts refusals. */
export class ShareWatch {
  readonly #options: ShareWatchOptions
  readonly #now: () => number
  /** domain -> `keyOf` */
  readonly #over = new Map<number, Map<string, Over>>()
  readonly #refused = new Map<number, Map<string, number>>()
  /**
   * Domains that were there at the first look, and could not be read since: what they were refused before is not known.
   * Counts of all others began after that look. Null before it.
   */
  #unread: Set<number> | null = null
  readonly #mostUsed = new Map<ShareName, number>()
  readonly #total = new Map<ShareName, number>()
  #notBeforeMs = 0

  constructor(options: ShareWatchOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /**
   * Reads every domain, unless the last read was so slow that it is too early. A domain that cannot be read is left
   * out.
   */
  async look(): Promise<readonly OverShareReport[]> {
    if (this.#now() >= this.#notBeforeMs) {
      const costMs = await this.#lookAtAll([...this.#options.domains()])
      this.#notBeforeMs = this.#now() + costMs / SHARE_OF_TIME
    }
    return this.#reports()
  }

  figures(): Readonly<Partial<Record<ShareName, ShareFigures>>> {
    const over = this.#reports()
    return Object.fromEntries(
      Array.from(this.#total, ([share, refused]) => {
        const networks = new Set(over.flatMap((one) => (one.share === share ? [one.domain] : []))).size
        const mostUsed = this.#mostUsed.get(share) ?? null
        return [share, { refused, mostUsed, over: networks } satisfies ShareFigures]
      }),
    )
  }

  /** @returns what it cost, in milliseconds */
  async #lookAtAll(domains: readonly number[]): Promise<number> {
    const { sources } = this.#options
    let costMs = 0
    this.#unread ??= new Set(domains)
    this.#mostUsed.clear()
    const read = new Map(domains.map((domain) => [domain, new Set<string>()]))
    for (const source of sources) for (const domain of domains) costMs += await this.#read(source, domain, read)
    // Forget the counters of proxies that ended: the next one of that name begins at zero.
    for (const [domain, keys] of read) {
      this.#unread.delete(domain)
      for (const key of this.#refused.get(domain)?.keys() ?? [])
        if (!keys.has(key)) this.#refused.get(domain)?.delete(key)
    }
    const there = new Set(domains)
    for (const domain of this.#refused.keys()) {
      if (there.has(domain)) continue
      this.#refused.delete(domain)
      this.#over.delete(domain)
      for (const source of sources) source.forget?.(domain)
    }
    return costMs
  }

  /**
   * Reads one source of one domain.
   * @param read the uses that were read of each domain; a domain that cannot be read is removed
   * @returns what it cost, in milliseconds
   */
  async #read(source: ShareSource, domain: number, read: Map<number, Set<string>>): Promise<number> {
    const beganMs = this.#now()
    let count = 1
    try {
      const uses = await source.read(domain)
      count = Math.max(1, uses.length)
      for (const use of uses) {
        this.#note(domain, use)
        read.get(domain)?.add(keyOf(use))
      }
    } catch (error) {
      read.delete(domain)
      this.#options.log.debug({ domain, error: String(error) }, 'the shares of a domain cannot be read')
    }
    return Math.min(this.#now() - beganMs, count * MOST_MS_OF_USE)
  }

  #note(domain: number, use: ShareUse): void {
    const { share, limit, used, refused, isOver } = use
    const ofDomain = this.#refused.get(domain) ?? new Map<string, number>()
    this.#refused.set(domain, ofDomain)
    const before = ofDomain.get(keyOf(use)) ?? (this.#unread?.has(domain) ? refused : 0)
    // A count that decreased has started again.
    const more = refused === null || before === null ? 0 : refused < before ? refused : refused - before
    if (refused !== null) ofDomain.set(keyOf(use), refused)
    this.#total.set(share, (this.#total.get(share) ?? 0) + more)
    if (used !== null && limit > 0) this.#mostUsed.set(share, Math.max(used / limit, this.#mostUsed.get(share) ?? 0))
    if (isOver ?? more > 0) this.#isOver(domain, use, more > 0)
  }

  #isOver(domain: number, use: Whose & Pick<ShareUse, 'limit'>, isRefused: boolean): void {
    const { share, loadBalancerId, limit } = use
    const shares = this.#over.get(domain) ?? new Map<string, Over>()
    this.#over.set(domain, shares)
    const nowMs = this.#now()
    const refusedMs = isRefused ? nowMs : (shares.get(keyOf(use))?.refusedMs ?? null)
    const whose = { share, ...(loadBalancerId === undefined ? {} : { loadBalancerId }) }
    shares.set(keyOf(use), { ...whose, lastMs: nowMs, refusedMs, limit })
  }

  #isQuiet(sinceMs: number): boolean {
    return this.#now() - sinceMs >= QUIET_MS
  }

  #told({ lastMs: _, refusedMs, ...over }: Over): Omit<OverShareReport, 'domain'> {
    return { ...over, refused: refusedMs !== null && !this.#isQuiet(refusedMs) }
  }

  #reports(): readonly OverShareReport[] {
    const reports: OverShareReport[] = []
    for (const [domain, shares] of this.#over)
      for (const [key, over] of shares)
        if (this.#isQuiet(over.lastMs)) shares.delete(key)
        else if (reports.length < MOST_REPORTS) reports.push({ domain, ...this.#told(over) })
    return reports
  }
}
