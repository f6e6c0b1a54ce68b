import type { DomainEntry } from '@spout/model/node-state'
import { Mutex } from '@spout/runtime'
import type { Log, NativeHelper } from '@spout/sys'
import type { Applied } from '../contracts/driver.ts'
import { loadTable } from '../nft/whole-table.ts'
import { announceAddresses, stopAnnouncing } from './announce-addresses.ts'
import { checkDomainConfig, type DomainConfig, rootNetns, sharesOf } from './domain-config.ts'
import { type DomainLayout, type InterfaceAddress, layOutDomain } from './domain-layout.ts'
import {
  makeNamespace,
  makeSegment,
  makeTunnels,
  makeUplink,
  removeLink,
  removeNamespace,
  setDomainSysctls,
  setHostAddresses,
} from './domain-links.ts'
import { domainNames, existingDomains, SEGMENT, TUNNELS, UPLINK } from './domain-names.ts'
import { LeftoversGrace } from './leftovers-grace.ts'
import { type Run, run } from './run.ts'
import { renderShares, SHARES_TABLE } from './shares/shares-table.ts'
import { prepareRoot } from './steering-rules.ts'

const MAIN_TABLE = 254

export interface DomainSetOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  /** Runs `ip` and `sysctl`; replaced in tests. */
  readonly run?: Run
  /** How long domains without an entry are kept after `adopt`. Default 30 s. */
  readonly leftoversGraceMs?: number
}

interface Known {
  readonly entry: DomainEntry
  readonly layout: DomainLayout
}

/**
 * The tenant networks of one node. Each has its own namespace with uplink, segment, addresses, sysctls and a guard.
 * Compares the system with the entries before every change, so that a restarted agent changes nothing.
 */
export class DomainSet {
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #log: Log
  readonly #run: Run
  readonly #known = new Map<string, Known>()
  /** Marks of the loaded tables of shares, by namespace. */
  readonly #shares = new Map<string, string>()
  readonly #grace: LeftoversGrace
  /** Domains of this agent without an entry. The first `apply` after the grace period removes them. */
  #leftovers = new Set<number>()
  #changes = 0
  readonly #mutex = new Mutex()

  constructor(options: DomainSetOptions) {
    this.#config = checkDomainConfig(options.config)
    this.#helper = options.helper
    this.#log = options.log
    this.#run = options.run ?? run
    this.#grace = new LeftoversGrace(options)
  }

  /** Counts changes to the system since the start. */
  get counters(): { readonly changes: number } {
    return { changes: this.#changes }
  }

  /** Numbers of the existing domains. */
  *numbers(): Iterable<number> {
    for (const { layout } of this.#known.values()) yield layout.number
  }

  /** The name of a domain's namespace, as `ip netns` takes it. */
  namespace(number: number): string {
    return domainNames(this.#config, number).namespace
  }

  /** The path of a domain's namespace, as the native helper takes it. */
  netns(number: number): string {
    return domainNames(this.#config, number).netns
  }

  /**
   * Prepares the root namespace and takes over what an earlier process left. It does not touch complete domains and
   * completes the others. The first `apply` after the grace period removes domains without an entry.
   * @returns the numbers of the domains whose namespaces existed
   */
  async adopt(previous: readonly DomainEntry[]): Promise<readonly number[]> {
    this.#grace.begin()
    this.#changes += await prepareRoot(this.#run, this.#helper, this.#config)
    const found = await existingDomains(this.#config)
    this.#leftovers = new Set(found)
    for (const entry of previous) await this.#put(entry)
    return found
  }

  /**
   * Creates and changes the domains of `put` and removes those of the keys in `remove`. A domain that fails is reported
   * and stops no other.
   */
  apply(
    changes: { readonly put: readonly DomainEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]> {
    return this.#mutex.run(async () => {
      const applied: Applied[] = []
      for (const key of changes.remove) {
        const known = this.#known.get(key)
        if (known !== undefined) applied.push(...(await this.#removed(key, known)))
      }
      for (const entry of changes.put) {
        signal.throwIfAborted()
        applied.push(await this.#put(entry))
      }
      if (this.#grace.isOver) await this.#removeLeftovers()
      return applied
    })
  }

  /**
   * Keys of domains whose namespace, interfaces or shares were lost. The next `apply` of their entries creates them
   * again.
   */
  observe(): Promise<readonly string[]> {
    return this.#mutex.run(async () => {
      const lost: string[] = []
      for (const [key, { layout }] of this.#known) {
        const uplink = await this.#uplinkAddresses(layout)
        const segment = await this.#addresses(layout.names.netns, SEGMENT)
        const isSegmentWhole = segment !== null && missing(layout.segmentAddresses, segment).length === 0
        const isWhole = uplink !== null && isSegmentWhole && (await this.#isHostEndWhole(layout))
        const hasTunnels = layout.vni === null || (await this.#hasTunnels(layout))
        if (!isWhole || !hasTunnels || !(await this.#hasShares(layout))) lost.push(key)
      }
      return lost
    })
  }

  async #put(entry: DomainEntry): Promise<Applied> {
    const { key } = entry
    try {
      const layout = layOutDomain(this.#config, entry)
      const before = this.#known.get(key)?.layout
      if (before !== undefined && !sameSegment(before, layout)) {
        await removeLink(this.#run, layout.names.namespace, SEGMENT)
        this.#changes++
      }
      await this.#make(layout)
      this.#known.set(key, { entry, layout })
      this.#leftovers.delete(entry.number)
      return { key, state: 'programmed', reason: null, message: null }
    } catch (error) {
      this.#leftovers.delete(entry.number)
      this.#log.warn({ key, error: String(error) }, 'the domain was not created')
      return { key, state: 'failed', reason: 'DomainFailed', message: messageOf(error) }
    }
  }

  /**
   * Every step compares first. The guard is loaded before forwarding is enabled, and both before an interface is
   * created. A changed guard may rely on changed sysctls.
   */
  async #make(layout: DomainLayout): Promise<void> {
    let uplink = await this.#uplinkAddresses(layout)
    let segment = await this.#addresses(layout.names.netns, SEGMENT)
    if (uplink === null) await this.#change(makeNamespace(this.#run, layout.names.namespace))
    const isGuardNew = await this.#loadGuard(layout)
    if (isGuardNew || uplink === null) await this.#change(setDomainSysctls(this.#run, layout))
    if (uplink === null) {
      await removeLink(this.#run, this.#config.rootNamespace ?? null, layout.names.rootLink)
      await removeLink(this.#run, layout.names.namespace, UPLINK)
      await this.#change(makeUplink(this.#run, this.#config, layout))
      uplink = []
    }
    if (segment === null) {
      await this.#change(makeSegment(this.#run, this.#config, layout))
      segment = []
    }
    await this.#loadShares(layout)
    await this.#setAddresses(layout, UPLINK, layout.uplinkAddresses, uplink)
    const bound = await this.#setAddresses(layout, SEGMENT, layout.segmentAddresses, segment)
    await this.#setHostEnd(layout)
    await this.#setTunnels(layout)
    await this.#setRoutes(layout)
    const gateways = layout.gateways.filter((gateway) => bound.some(({ address }) => address === gateway))
    await announceAddresses(this.#helper, { netns: layout.names.netns, dev: SEGMENT }, gateways)
  }

  /** Null unless both ends exist. */
  async #uplinkAddresses({ names }: DomainLayout): Promise<readonly InterfaceAddress[] | null> {
    const root = await this.#addresses(rootNetns(this.#config), names.rootLink)
    const isWhole = [names.root.ipv4, names.root.ipv6].every((own) => root?.some(({ address }) => address === own))
    return isWhole ? this.#addresses(names.netns, UPLINK) : null
  }

  /** Null if the interface or its namespace does not exist. */
  async #addresses(netns: string | undefined, dev: string): Promise<readonly InterfaceAddress[] | null> {
    try {
      const addresses = await this.#helper.addrList({ netns, dev })
      return addresses.filter(({ address }) => !address.startsWith('fe80:'))
    } catch (error) {
      if (isAbsent(error)) return null
      throw error
    }
  }

  async #setAddresses(
    layout: DomainLayout,
    dev: string,
    wanted: readonly InterfaceAddress[],
    there: readonly InterfaceAddress[],
  ): Promise<readonly InterfaceAddress[]> {
    const add = missing(wanted, there)
    // Other host addresses on the segment are VIPs of scope tenant, which belong to the announcer.
    const former = this.#known.get(layout.key)?.layout.segmentAddresses ?? []
    const remove = missing(there, wanted).filter(
      (extra) => former.some((own) => sameAddress(own, extra)) || layout.foreignGateways.includes(extra.address),
    )
    if (add.length + remove.length === 0) return []
    const at = { netns: layout.names.netns, dev }
    // The node that takes a gateway over announces it already. A later round of this node would take the replies back.
    await stopAnnouncing(
      this.#helper,
      at,
      remove.map(({ address }) => address),
    )
    await this.#change(
      this.#helper.addr({
        netns: at.netns,
        changes: [
          ...remove.map((address) => ({ do: 'delete' as const, dev, ...address })),
          ...add.map((address) => ({ do: 'add' as const, dev, ...address })),
        ],
      }),
    )
    return add
  }

  async #isHostEndWhole({ segment }: DomainLayout): Promise<boolean> {
    if (!('hostLink' in segment)) return true
    const there = await this.#addresses(rootNetns(this.#config), segment.hostLink)
    return there !== null && missing(segment.hostAddresses, there).length === 0
  }

  async #setHostEnd({ segment }: DomainLayout): Promise<void> {
    if (!('hostLink' in segment)) return
    const there = (await this.#addresses(rootNetns(this.#config), segment.hostLink)) ?? []
    const add = missing(segment.hostAddresses, there)
    const remove = missing(there, segment.hostAddresses)
    if (add.length + remove.length > 0)
      await this.#change(setHostAddresses(this.#run, this.#config, segment.hostLink, { add, remove }))
  }

  async #loadGuard(layout: DomainLayout): Promise<boolean> {
    const loaded = await loadTable(this.#helper, layout.names.netns, layout.guard)
    if (loaded) this.#changes++
    return loaded
  }

  /** Loaded after the interfaces, which its chains are attached to. The kernel removes it with either of them. */
  async #loadShares({ names: { netns } }: DomainLayout): Promise<void> {
    const uplink = await this.#helper.linkIndex({ netns, dev: UPLINK })
    const segment = await this.#helper.linkIndex({ netns, dev: SEGMENT })
    const table = renderShares(sharesOf(this.#config), { uplink, segment })
    if (await loadTable(this.#helper, netns, table)) this.#changes++
    this.#shares.set(netns, table.mark)
  }

  async #hasShares({ names: { netns } }: DomainLayout): Promise<boolean> {
    const { comment } = await this.#helper.nftGeneration({ netns, family: 'netdev', table: SHARES_TABLE })
    return comment === this.#shares.get(netns)
  }

  /**
   * Applies the difference. Other routes through the segment lead to networks that are no longer behind its routers.
   */
  async #setRoutes(layout: DomainLayout): Promise<void> {
    const { netns, root } = layout.names
    const table = MAIN_TABLE
    const routes = await this.#helper.routeList({ netns, table })
    const wanted = [
      { to: '0.0.0.0/0', via: root.ipv4, dev: UPLINK },
      { to: '::/0', via: root.ipv6, dev: UPLINK },
      ...layout.routes.map((route) => ({ ...route, dev: SEGMENT })),
    ]
    const kept = new Set(wanted.map(({ to }) => to))
    const there = new Set(routes.map(({ to, via }) => `${to} ${via}`))
    const stale = routes.filter(({ to, via, dev }) => dev === SEGMENT && via !== null && !kept.has(to))
    const absent = wanted.filter(({ to, via }) => !there.has(`${to} ${via}`))
    const changes = [
      ...stale.map(({ to }) => ({ do: 'delete' as const, to, dev: SEGMENT, table })),
      ...absent.map((route) => ({ do: 'replace' as const, table, ...route })),
    ]
    if (changes.length > 0) await this.#change(this.#helper.route({ netns, changes }))
  }

  /** Whether both tunnels exist. */
  async #hasTunnels({ names }: DomainLayout): Promise<boolean> {
    for (const dev of Object.values(TUNNELS)) if ((await this.#addresses(names.netns, dev)) === null) return false
    return true
  }

  async #setTunnels(layout: DomainLayout): Promise<void> {
    const { names, vni } = layout
    // Undefined if this process has not seen the domain yet: an earlier process may have left tunnels.
    const before = this.#known.get(layout.key)?.layout.vni
    if (vni === null && before === null) return
    const isThere = await this.#hasTunnels(layout)
    if (vni === null ? !isThere : isThere && (before ?? vni) === vni) return
    for (const dev of Object.values(TUNNELS)) await removeLink(this.#run, names.namespace, dev)
    if (vni === null) this.#changes++
    else await this.#change(makeTunnels(this.#run, layout))
  }

  async #removeLeftovers(): Promise<void> {
    for (const number of this.#leftovers) await this.#tearDown(number)
    this.#leftovers.clear()
  }

  async #removed(key: string, known: Known): Promise<readonly Applied[]> {
    try {
      await this.#tearDown(known.layout.number)
      this.#known.delete(key)
      return []
    } catch (error) {
      return [{ key, state: 'failed', reason: 'DomainFailed', message: messageOf(error) }]
    }
  }

  /**
   * Removes the interfaces first: a process inside keeps the namespace alive, and with it everything that is not
   * removed by name.
   */
  async #tearDown(number: number): Promise<void> {
    const names = domainNames(this.#config, number)
    await removeLink(this.#run, this.#config.rootNamespace ?? null, names.rootLink)
    await removeLink(this.#run, names.namespace, SEGMENT)
    this.#shares.delete(names.netns)
    await this.#change(removeNamespace(this.#run, names.namespace))
  }

  async #change(work: Promise<void>): Promise<void> {
    this.#changes++
    await work
  }
}

const sameAddress = (a: InterfaceAddress, b: InterfaceAddress): boolean =>
  a.address === b.address && a.prefix === b.prefix

const missing = (
  wanted: readonly InterfaceAddress[],
  there: readonly InterfaceAddress[],
): readonly InterfaceAddress[] => wanted.filter((address) => !there.some((other) => sameAddress(address, other)))

const sameSegment = ({ segment: a }: DomainLayout, { segment: b }: DomainLayout): boolean =>
  'hostLink' in a || 'hostLink' in b ? 'hostLink' in a && 'hostLink' in b : a.parent === b.parent && a.vlan === b.vlan

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'errno' in error && (error.errno === 'ENODEV' || error.errno === 'ENOENT')

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
