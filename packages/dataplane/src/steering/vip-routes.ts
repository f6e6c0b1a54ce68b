import type { NodeVip } from '@spout/model/node-state'
import { formatCidr, hostCidr, parseIp } from '@spout/net'
import type { Log, NativeHelper, Route, RouteChange } from '@spout/sys'
import { DEFAULT_STEERING_TABLE, type DomainConfig, rootNetns } from '../domain/domain-config.ts'
import { type DomainNames, domainNames } from '../domain/domain-names.ts'
import { IngressSteering } from './ingress-steering.ts'

const LOCAL_TABLE = 255

/** The VIPs of one entry and the domain that serves them. */
export interface SteeredEntry {
  readonly key: string
  readonly domain: number
  readonly vips: readonly Pick<NodeVip, 'address' | 'scope'>[]
}

interface Placed {
  readonly domain: number
  readonly scope: NodeVip['scope']
}

/**
 * Routes packets for VIPs into their domains. Each VIP is local in its domain: a local route on lo, so that packets
 * without a rule are refused there and do not loop. Each VIP of the fabric has a route in the root's steering table.
 * Most packets do not use it, since `IngressSteering` takes them at ingress.
 */
export class VipRoutes {
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #ingress: IngressSteering
  readonly #entries = new Map<string, SteeredEntry>()
  /** Keys of the entries that hold an address. While an address moves between two entries, both hold it. */
  readonly #holders = new Map<string, readonly string[]>()
  readonly #placed = new Map<string, Placed>()
  readonly #namesOf = new Map<number, DomainNames>()
  /** Domains that may have local routes besides those of placed VIPs. */
  readonly #domains = new Set<number>()
  /** Whether routes may be missing. */
  #stale = true
  /** Whether there may be routes of an earlier process. */
  #unpruned = true
  /** Marks of the namespaces (`NativeHelper.rtnlMark`) when all routes were last complete. */
  #wholeMarks: string | null = null
  #changes = 0

  constructor(options: { readonly config: DomainConfig; readonly helper: NativeHelper; readonly log: Log }) {
    this.#config = options.config
    this.#helper = options.helper
    this.#ingress = new IngressSteering(options)
  }

  /** Keys of the entries whose VIPs are steered. */
  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  /** Counts requests that changed the kernel since the start. */
  get counters(): { readonly changes: number } {
    return { changes: this.#changes + this.#ingress.counters.changes }
  }

  /**
   * Takes over existing routes. The next `apply` adds missing ones; the next with `prune` removes leftovers.
   * @param domains numbers of the domains that exist
   */
  async adopt(previous: readonly SteeredEntry[], domains: readonly number[]): Promise<void> {
    for (const map of [this.#entries, this.#holders, this.#placed, this.#domains]) map.clear()
    for (const domain of domains) this.#domains.add(domain)
    for (const entry of previous) this.#hold(entry)
    for (const address of this.#holders.keys()) this.#placed.set(address, this.#wanted(address)!)
    this.#unpruned = true
    this.#wholeMarks = null
    this.#stale = !(await this.#isAsPlaced())
    await this.#ingress.adopt(this.#steered())
  }

  /** Steers the VIPs of the given entries, and no longer those of the keys in `remove`. Rejects with `HelperError`. */
  async apply(
    changes: { readonly put: readonly SteeredEntry[]; readonly remove: readonly string[] },
    prune: boolean,
  ): Promise<void> {
    const touched = new Set<string>()
    for (const key of [...changes.remove, ...changes.put.map((entry) => entry.key)]) this.#release(key, touched)
    for (const entry of changes.put) {
      this.#hold(entry)
      for (const { address } of entry.vips) touched.add(address)
    }
    if (this.#stale || (prune && this.#unpruned)) {
      await this.#mend(prune, touched)
      return
    }
    const root: RouteChange[] = []
    const domains = new Map<number, RouteChange[]>()
    const placed: [string, Placed | null][] = []
    for (const address of touched) {
      const before = this.#placed.get(address) ?? null
      const after = this.#wanted(address)
      if (before?.domain === after?.domain && before?.scope === after?.scope) continue
      placed.push([address, after])
      if (after !== null) push(domains, after.domain, localRoute('replace', address))
      if (before !== null && before.domain !== after?.domain)
        push(domains, before.domain, localRoute('delete', address))
      if (after?.scope === 'fabric') root.push(this.#rootRoute('replace', address, after.domain))
      else if (before?.scope === 'fabric') root.push(this.#rootRoute('delete', address, before.domain))
    }
    this.#stale = placed.length > 0
    // Ingress steering first: packets that it no longer takes still find the route.
    const gone = placed.filter(([address, at]) => at === null && this.#placed.get(address)?.scope === 'fabric')
    if (gone.length > 0) await this.#ingress.apply(domainsOf(gone), () => this.#steered())
    await this.#route(root, domains)
    for (const [address, at] of placed)
      if (at === null) this.#placed.delete(address)
      else this.#placed.set(address, at)
    this.#stale = false
    await this.#ingress.apply(domainsOf(placed), () => this.#steered())
  }

  /** Whether the kernel's routes are as placed; if not, the next `apply` repairs them. */
  async observe(): Promise<boolean> {
    if (!this.#stale) this.#stale = !(await this.#isAsPlaced())
    await this.#ingress.mend(() => this.#steered())
    return !this.#stale
  }

  /**
   * Compares all existing routes with all wanted ones and applies the difference. Without `prune` only addresses in
   * `touched` lose their routes.
   */
  async #mend(prune: boolean, touched: ReadonlySet<string>): Promise<void> {
    this.#stale = true
    for (const { domain } of this.#placed.values()) this.#domains.add(domain)
    this.#placed.clear()
    for (const address of this.#holders.keys()) this.#placed.set(address, this.#wanted(address)!)
    const released = new Set(Array.from(touched, hostPrefix))
    const isDue = ({ do: action, to }: RouteChange): boolean => action === 'replace' || prune || released.has(to)
    const { root, domains } = await this.#difference()
    const due = Array.from(domains, ([domain, changes]) => [domain, changes.filter(isDue)] as const)
    await this.#route(root.filter(isDue), new Map(due.filter(([, changes]) => changes.length > 0)))
    this.#stale = false
    await this.#ingress.reload(() => this.#steered())
    if (!prune) return
    // From here on only routes of this process exist.
    this.#unpruned = false
    this.#domains.clear()
  }

  /**
   * Leftover routes do not count until they are pruned. Routes are listed only when somebody else changed some, since
   * our own are known.
   */
  async #isAsPlaced(): Promise<boolean> {
    const marks = await this.#marks()
    if (marks === this.#wholeMarks) return true
    const { root, domains } = await this.#difference()
    const changes = [root, ...domains.values()].flat()
    const isWhole = changes.every(({ do: action }) => action === 'delete' && this.#unpruned)
    this.#wholeMarks = isWhole ? marks : null
    return isWhole
  }

  async #marks(): Promise<string> {
    const numbers = new Set(this.#domains)
    for (const { domain } of this.#placed.values()) numbers.add(domain)
    const domains = [...numbers].sort((a, b) => a - b).map((number) => this.#names(number).netns)
    const marks = [rootNetns(this.#config), ...domains].map(
      async (netns) => `${netns} ${await this.#helper.rtnlMark({ netns })}`,
    )
    return (await Promise.all(marks)).join()
  }

  async #difference(): Promise<{ root: RouteChange[]; domains: Map<number, RouteChange[]> }> {
    const byDomain = new Map<number, Set<string>>(Array.from(this.#domains, (domain) => [domain, new Set<string>()]))
    const wantedRoot = new Map<string, number>()
    for (const [address, { domain, scope }] of this.#placed) {
      const prefix = hostPrefix(address)
      byDomain.set(domain, (byDomain.get(domain) ?? new Set()).add(prefix))
      if (scope === 'fabric') wantedRoot.set(prefix, domain)
    }
    const root: RouteChange[] = []
    const table = this.#table
    for (const route of await this.#helper.routeList({ netns: rootNetns(this.#config), table })) {
      const domain = wantedRoot.get(route.to)
      if (domain !== undefined && route.dev === this.#names(domain).rootLink) wantedRoot.delete(route.to)
      else if (domain === undefined) root.push({ do: 'delete', to: route.to, table })
    }
    for (const [prefix, domain] of wantedRoot)
      root.push(this.#rootRoute('replace', prefix.slice(0, prefix.indexOf('/')), domain))
    const domains = new Map<number, RouteChange[]>()
    for (const [domain, wanted] of byDomain) {
      const netns = this.#names(domain).netns
      for (const { to } of (await this.#helper.routeList({ netns, table: LOCAL_TABLE })).filter(isVipRoute))
        if (!wanted.delete(to))
          push(domains, domain, { do: 'delete', to, dev: 'lo', table: LOCAL_TABLE, type: 'local' })
      for (const to of wanted)
        push(domains, domain, { do: 'replace', to, dev: 'lo', table: LOCAL_TABLE, type: 'local' })
    }
    return { root, domains }
  }

  async #route(root: readonly RouteChange[], domains: ReadonlyMap<number, readonly RouteChange[]>): Promise<void> {
    for (const [domain, changes] of domains) {
      this.#changes++
      await this.#helper.route({ netns: this.#names(domain).netns, changes })
    }
    if (root.length === 0) return
    this.#changes++
    await this.#helper.route({ netns: rootNetns(this.#config), changes: root })
  }

  *#steered(): Iterable<readonly [string, number]> {
    for (const [address, { domain, scope }] of this.#placed) if (scope === 'fabric') yield [address, domain]
  }

  #hold(entry: SteeredEntry): void {
    this.#entries.set(entry.key, entry)
    for (const { address } of entry.vips)
      this.#holders.set(address, [...(this.#holders.get(address) ?? []), entry.key].sort())
  }

  #release(key: string, touched: Set<string>): void {
    for (const { address } of this.#entries.get(key)?.vips ?? []) {
      touched.add(address)
      const others = (this.#holders.get(address) ?? []).filter((holder) => holder !== key)
      if (others.length === 0) this.#holders.delete(address)
      else this.#holders.set(address, others)
    }
    this.#entries.delete(key)
  }

  #wanted(address: string): Placed | null {
    const entry = this.#entries.get(this.#holders.get(address)?.[0] ?? '')
    const vip = entry?.vips.find((candidate) => candidate.address === address)
    return entry === undefined || vip === undefined ? null : { domain: entry.domain, scope: vip.scope }
  }

  /** Cached, since each of many routes needs them. */
  #names(domain: number): DomainNames {
    const known = this.#namesOf.get(domain) ?? domainNames(this.#config, domain)
    this.#namesOf.set(domain, known)
    return known
  }

  get #table(): number {
    return this.#config.steeringTable ?? DEFAULT_STEERING_TABLE
  }

  #rootRoute(action: 'replace' | 'delete', address: string, domain: number): RouteChange {
    const { rootLink, domain: end } = this.#names(domain)
    const via = parseIp(address).version === 4 ? end.ipv4 : end.ipv6
    const to = hostPrefix(address)
    return action === 'delete'
      ? { do: 'delete', to, table: this.#table }
      : { do: 'replace', to, via, dev: rootLink, table: this.#table }
  }
}

const hostPrefix = (address: string): string => formatCidr(hostCidr(parseIp(address)))

const localRoute = (action: 'replace' | 'delete', address: string): RouteChange => ({
  do: action,
  to: hostPrefix(address),
  dev: 'lo',
  table: LOCAL_TABLE,
  type: 'local',
})

/** Local routes on lo, except the loopback's own. */
const isVipRoute = ({ to, dev, type }: Route): boolean =>
  type === 'local' && dev === 'lo' && /\/(32|128)$/.test(to) && !to.startsWith('127.') && to !== '::1/128'

const domainsOf = (placed: readonly (readonly [string, Placed | null])[]): ReadonlyMap<string, number | null> =>
  new Map(placed.map(([address, at]) => [address, at?.scope === 'fabric' ? at.domain : null]))

const push = (map: Map<number, RouteChange[]>, domain: number, change: RouteChange): void => {
  const changes = map.get(domain)
  if (changes === undefined) map.set(domain, [change])
  else changes.push(change)
}
