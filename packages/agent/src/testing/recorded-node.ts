import type { Announcement, Announcer, Applied, DataPlaneDriver, GroupFollower, WantedEntry } from '@spout/dataplane'
import { domainOfKey } from '@spout/model/entry-keys'
import type { DomainEntry, GroupEntry } from '@spout/model/node-state'
import type { Domains } from '../domains.ts'

/** The state of a node that outlives its agent, with a log of its changes. */
export class RecordedNode {
  readonly domains = new Map<number, DomainEntry>()
  /** By key: what the packet path has, as `RecordedDriver.render` writes it. */
  readonly programmed = new Map<string, string>()
  readonly announced = new Map<string, Announcement>()
  /** The error text with which the next group entries are refused. Null: they are accepted. */
  groupRefused: string | null = null
  /**
   * Every change in order: `domain+ 1`, `put lb/..`, `announce 192.0.2.1`, `withdraw ..`, `remove lb/..`, `domain- 1`.
   */
  readonly log: string[] = []
  /** Keys that the kernel refuses, with its error text. */
  readonly refusals = new Map<string, string>()
  transactions = 0
  /** The keys of all entries that the driver was given, even if it had them already. */
  readonly handed: string[] = []
  /** Awaited by every `apply`, so that a test can hold up a pass. */
  gate: Promise<void> = Promise.resolve()
  /** Called before an address is announced. */
  onAnnounce = () => {}
  withdrawalsFail = false

  take(): string[] {
    return this.log.splice(0)
  }
}

export class RecordedDomains implements Domains {
  readonly #node: RecordedNode

  constructor(node: RecordedNode) {
    this.#node = node
  }

  async adopt(previous: readonly DomainEntry[]): Promise<readonly number[]> {
    const found = [...this.#node.domains.keys()]
    for (const domain of previous) this.#put(domain)
    return found
  }

  async apply(changes: {
    readonly put: readonly DomainEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    return [...changes.remove.map((key) => this.#remove(key)), ...changes.put.map((domain) => this.#put(domain))]
  }

  async observe(): Promise<readonly string[]> {
    return []
  }

  #put(domain: DomainEntry): Applied {
    const { domains, log, refusals } = this.#node
    const refusal = refusals.get(domain.key)
    if (refusal !== undefined) return failed(domain.key, refusal)
    if (JSON.stringify(domains.get(domain.number)) !== JSON.stringify(domain)) {
      domains.set(domain.number, domain)
      log.push(`domain+ ${domain.number}`)
    }
    return programmed(domain.key)
  }

  #remove(key: string): Applied {
    const number = domainOfKey(key) ?? 0
    if (this.#node.domains.delete(number)) this.#node.log.push(`domain- ${number}`)
    return programmed(key)
  }
}

export class RecordedDriver implements DataPlaneDriver<string> {
  readonly name: string = 'recorded'
  readonly features: ReadonlySet<string> = new Set(['l4.tcp', 'l4.udp', 'l4.redirect', 'l7.http', 'l7.tcp-proxy'])
  readonly #node: RecordedNode
  #held = new Set<string>()

  constructor(node: RecordedNode) {
    this.#node = node
  }

  get counters() {
    return { transactions: this.#node.transactions, reloads: 0 }
  }

  render({ hash, down, shares = new Map() }: WantedEntry): string {
    const rising = Array.from(shares, ([id, percent]) => ` ${id}@${percent}`).sort()
    return `${hash} ${[...down].sort().join()}${rising.join('')}`
  }

  async adopt(previous: readonly WantedEntry[]): Promise<void> {
    this.#held = new Set(previous.map(({ key }) => key))
  }

  async apply(changes: {
    readonly put: readonly WantedEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    await this.#node.gate
    return [...changes.put.map((wanted) => this.#put(wanted)), ...changes.remove.map((key) => this.#remove(key))]
  }

  /** @returns keys whose state in the packet path was lost */
  async observe(): Promise<readonly string[]> {
    return [...this.#held].filter((key) => !this.#node.programmed.has(key))
  }

  async stats() {
    return []
  }

  async close(): Promise<void> {}

  #put(wanted: WantedEntry): Applied {
    const { key } = wanted
    this.#node.handed.push(key)
    const refusal = this.#node.refusals.get(key)
    if (refusal !== undefined) return failed(key, refusal)
    if (!this.#node.domains.has(wanted.domain.number)) return failed(key, 'no such namespace')
    this.#held.add(key)
    if (this.#node.programmed.get(key) !== this.render(wanted)) {
      this.#node.programmed.set(key, this.render(wanted))
      this.#node.transactions++
      this.#node.log.push(`put ${key}`)
    }
    return programmed(key)
  }

  #remove(key: string): Applied {
    this.#held.delete(key)
    if (this.#node.programmed.delete(key)) {
      this.#node.transactions++
      this.#node.log.push(`remove ${key}`)
    }
    return programmed(key)
  }
}

export class RecordedAnnouncer implements Announcer {
  readonly name = 'recorded'
  readonly #node: RecordedNode

  constructor(node: RecordedNode) {
    this.#node = node
  }

  async adopt(): Promise<void> {}

  async apply(wanted: readonly Announcement[]) {
    const { announced, log } = this.#node
    const addresses = new Set(wanted.map(({ address }) => address))
    for (const address of [...announced.keys()]) {
      if (addresses.has(address)) continue
      if (this.#node.withdrawalsFail) throw new Error('the announcer does not answer')
      announced.delete(address)
      log.push(`withdraw ${address}`)
    }
    for (const announcement of wanted) {
      if (announced.has(announcement.address)) continue
      this.#node.onAnnounce()
      announced.set(announcement.address, announcement)
      log.push(`announce ${announcement.address}`)
    }
    return wanted.map((announcement) => ({ announcement, error: null }))
  }

  async observe(): Promise<readonly Announcement[]> {
    return [...this.#node.announced.values()]
  }

  setHealthy(healthy: boolean): void {
    this.#node.log.push(healthy ? 'healthy' : 'unhealthy')
  }

  async close(): Promise<void> {}
}

export class RecordedGroup implements GroupFollower {
  readonly #node: RecordedNode

  constructor(node: RecordedNode) {
    this.#node = node
  }

  async follow(entry: GroupEntry | null): Promise<void> {
    if (this.#node.groupRefused !== null) throw new Error(this.#node.groupRefused)
    this.#node.log.push(entry === null ? 'group none' : `group ${entry.vrrp?.shards.length ?? 0} shards`)
  }

  async report() {
    return { shards: [], bgpSessions: [], departure: null }
  }

  async close(): Promise<void> {}
}

const programmed = (key: string): Applied => ({ key, state: 'programmed', reason: null, message: null })
const failed = (key: string, message: string): Applied => ({ key, state: 'failed', reason: 'KernelRefused', message })
