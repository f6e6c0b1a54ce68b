import { LOCAL_DOMAIN } from '@spout/model/local-entries'
import type { NativeHelper } from '@spout/sys'
import { loadTable } from '../nft/whole-table.ts'
import { announceAddresses, stopAnnouncing } from './announce-addresses.ts'
import { sendAnswersByUplink } from './answers-by-uplink.ts'
import { type DomainConfig, rootNetns, sharesOf } from './domain-config.ts'
import type { DomainLayout, InterfaceAddress } from './domain-layout.ts'
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
import { domainNames, HOSTS, SEGMENT, TUNNELS, UPLINK } from './domain-names.ts'
import { MemberHostsLinks } from './member-hosts-links.ts'
import type { Run } from './run.ts'
import { renderShares, SHARES_TABLE } from './shares/shares-table.ts'

const MAIN_TABLE = 254

interface InterfaceDifference {
  readonly dev: string
  readonly wanted: readonly InterfaceAddress[]
  readonly there: readonly InterfaceAddress[]
}

/**
 * Makes one domain in the kernel and takes it away: namespace, interfaces, addresses, routes, guard and shares. Every
 * step compares first, so a domain that is whole is not changed.
 */
export class DomainBuilder {
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #run: Run
  readonly #hosts: MemberHostsLinks
  /** Marks of the loaded tables of shares, by namespace. */
  readonly #shares = new Map<string, string>()
  #changes = 0

  constructor(config: DomainConfig, helper: NativeHelper, run: Run) {
    this.#config = config
    this.#helper = helper
    this.#run = run
    this.#hosts = new MemberHostsLinks(config, helper, run)
  }

  /** Counts changes to the system since the start. */
  get changes(): number {
    return this.#changes
  }

  /**
   * The guard is loaded before forwarding is enabled, and both before an interface is created. A changed guard may rely
   * on changed sysctls.
   * @param before what this process made of the domain last; null if it has not seen it
   */
  async make(layout: DomainLayout, before: DomainLayout | null): Promise<void> {
    if (before !== null && !sameSegment(before, layout)) {
      await this.#change(removeLink(this.#run, layout.names.namespace, SEGMENT))
    }
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
    await this.#setAddresses(layout, before, { dev: UPLINK, wanted: layout.uplinkAddresses, there: uplink })
    const bound = await this.#setAddresses(layout, before, {
      dev: SEGMENT,
      wanted: layout.segmentAddresses,
      there: segment,
    })
    await this.#setHostEnd(layout)
    this.#changes += await this.#hosts.make(layout)
    await this.#setTunnels(layout, before)
    await this.#setRoutes(layout)
    if (layout.number === LOCAL_DOMAIN) this.#changes += await sendAnswersByUplink(this.#run, this.#helper, layout)
    const gateways = layout.gateways.filter((gateway) => bound.some(({ address }) => address === gateway))
    await announceAddresses(this.#helper, { netns: layout.names.netns, dev: SEGMENT }, gateways)
  }

  /** Whether its namespace, interfaces and shares are there. */
  async isWhole(layout: DomainLayout): Promise<boolean> {
    // Asked at once, so that the helper wakes up once. The rest is asked only of a namespace that is there.
    const interfaces = await Promise.all([
      this.#uplinkAddresses(layout).then((uplink) => uplink !== null),
      this.#isSegmentWhole(layout),
      this.#isHostEndWhole(layout),
    ])
    if (!interfaces.every(Boolean)) return false
    const contents = await Promise.all([
      this.#hosts.isWhole(layout),
      layout.vni === null || this.#hasTunnels(layout),
      this.#hasShares(layout),
    ])
    return contents.every(Boolean)
  }

  /**
   * Removes the interfaces first: a process inside keeps the namespace alive, and with it everything that is not
   * removed by name.
   */
  async tearDown(number: number): Promise<void> {
    const names = domainNames(this.#config, number)
    await removeLink(this.#run, this.#config.rootNamespace ?? null, names.rootLink)
    await removeLink(this.#run, names.namespace, SEGMENT)
    await removeLink(this.#run, names.namespace, HOSTS)
    await this.#hosts.remove(number)
    this.#shares.delete(names.netns)
    await this.#change(removeNamespace(this.#run, names.namespace))
  }

  /** Null unless both ends exist. */
  async #uplinkAddresses({ names }: DomainLayout): Promise<readonly InterfaceAddress[] | null> {
    const root = await this.#addresses(rootNetns(this.#config), names.rootLink)
    const isWhole = [names.root.ipv4, names.root.ipv6].every((own) => root?.some(({ address }) => address === own))
    return isWhole ? this.#addresses(names.netns, UPLINK) : null
  }

  async #isSegmentWhole({ names, segmentAddresses }: DomainLayout): Promise<boolean> {
    const segment = await this.#addresses(names.netns, SEGMENT)
    return segment !== null && missing(segmentAddresses, segment).length === 0
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
    before: DomainLayout | null,
    { dev, wanted, there }: InterfaceDifference,
  ): Promise<readonly InterfaceAddress[]> {
    const add = missing(wanted, there)
    // Other host addresses on the segment are VIPs of scope tenant, which belong to the announcer.
    const former = before?.segmentAddresses ?? []
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

  async #setTunnels(layout: DomainLayout, before: DomainLayout | null): Promise<void> {
    const { names, vni } = layout
    // Undefined if this process has not seen the domain yet: an earlier process may have left tunnels.
    const vniBefore = before?.vni
    if (vni === null && vniBefore === null) return
    const isThere = await this.#hasTunnels(layout)
    if (vni === null ? !isThere : isThere && (vniBefore ?? vni) === vni) return
    for (const dev of Object.values(TUNNELS)) await removeLink(this.#run, names.namespace, dev)
    if (vni === null) this.#changes++
    else await this.#change(makeTunnels(this.#run, layout))
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
