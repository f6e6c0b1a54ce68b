import { isIPv6 } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { NativeHelper } from '@spout/sys'
import { loadTable, type WholeTable, withoutTable } from '../nft/whole-table.ts'
import { type DomainConfig, rootNetns } from './domain-config.ts'
import type { DomainLayout } from './domain-layout.ts'
import { type DomainNames, HOSTS, HOSTS_PORT } from './domain-names.ts'
import { FORMER_TABLE, renderFormerTables } from './former-tables.ts'
import { HOP_PREFIXES, type HostNeighbour, hostedMark, hostsTableName, type MemberHostsLayout } from './member-hosts.ts'
import type { Run } from './run.ts'

/** Ahead of every other rule: the answers' destinations may be anything that the node has a route to. */
const RETURN_PREFERENCE = 9
const MAIN_TABLE = 254

/**
 * Makes what return path `node` needs in the kernel, and takes it away. The tunnel's outer packets belong to the root
 * namespace, where it is created: the kernel keeps a VXLAN interface's sockets there when the interface itself is in
 * another namespace.
 */
export class MemberHostsLinks {
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #run: Run

  constructor(config: DomainConfig, helper: NativeHelper, run: Run) {
    this.#config = config
    this.#helper = helper
    this.#run = run
  }

  /** Applies the difference. Resolves with the number of changes. */
  async make(layout: DomainLayout): Promise<number> {
    const { hosts, names } = layout
    if (hosts === null) return 0
    let changes = await this.#setReversePaths(layout, hosts)
    changes += await this.#setTunnel(names.namespace, hosts)
    if (hosts.end !== null) {
      changes += await this.#setNeighbours(names.namespace, hosts)
      changes += await this.#setHopRoutes(names)
    }
    changes += await this.#setFormers(names, hosts)
    changes += await this.#setReturns(hosts)
    return changes + ((await loadTable(this.#helper, rootNetns(this.#config), hosts.table)) ? 1 : 0)
  }

  async isWhole({ hosts, names }: DomainLayout): Promise<boolean> {
    if (hosts === null) return true
    if (hosts.end !== null && (await this.#tunnel(names.namespace)) === null) return false
    if ((await this.#missingReturns(hosts)).length > 0) return false
    if ((await this.#differingFormers(names, hosts)).length > 0) return false
    const at = { netns: rootNetns(this.#config), family: 'inet', table: hosts.table.name } as const
    return (await this.#helper.nftGeneration(at)).comment === hosts.table.mark
  }

  /** Removes what is in the root namespace, if anything is. The rest goes with the domain. */
  async remove(number: number): Promise<void> {
    const at = { netns: rootNetns(this.#config), family: 'inet', table: hostsTableName(this.#config, number) } as const
    if (!(await this.#helper.nftGeneration(at)).exists) return
    const mark = hostedMark(number)
    for (const version of [4, 6] as const)
      if (await this.#hasRule(mark, version)) await this.#ip([`-${version}`, 'rule', 'delete', ...ruleOf(mark)])
    await this.#helper.nftText({ netns: at.netns, text: withoutTable(at.family, at.table) })
  }

  /**
   * The kernel's check of sources would drop a client's packet from the cable, and an answer from the uplink: both have
   * sources of elsewhere. The larger of an interface's and the node's own setting counts.
   */
  async #setReversePaths({ names }: DomainLayout, { hostLink }: MemberHostsLayout): Promise<number> {
    const settings = [hostLink, names.rootLink].map((link) => `net.ipv4.conf.${link}.rp_filter`)
    const now = (await this.#sysctl(['-n', ...settings])).trim().split(/\s+/)
    if (now.every((value) => value === LOOSE)) return 0
    await this.#sysctl(['-q', '-w', ...settings.map((name) => `${name}=${LOOSE}`)])
    return 1
  }

  async #setTunnel(namespace: string, { end, vni }: MemberHostsLayout): Promise<number> {
    const there = await this.#tunnel(namespace)
    const wanted = end === null ? null : { ...end, vni }
    if (isDeepStrictEqual(there, wanted)) return 0
    if (there !== null && wanted !== null && isMovable(there, wanted)) {
      const change = `link set dev ${HOSTS} type vxlan id ${vni} local ${wanted.address}`
      await this.#run('ip', ['-n', namespace, ...change.split(' ')])
      return 1
    }
    if (there !== null) await this.#run('ip', ['-n', namespace, 'link', 'delete', 'dev', HOSTS])
    if (end === null) return 1
    const link = `link add name ${HOSTS} address ${end.mac} netns ${namespace} type vxlan id ${vni}`
    await this.#ip(`${link} local ${end.address} dstport ${HOSTS_PORT} nolearning`.split(' '))
    const inside = [`link set dev ${HOSTS} addrgenmode none`, `link set dev ${HOSTS} up`]
    await this.#run('ip', ['-n', namespace, '-batch', '-'], `${inside.join('\n')}\n`)
    return 1
  }

  /** Null without one. */
  async #tunnel(namespace: string): Promise<Tunnel | null> {
    const text = await this.#read(['-n', namespace, '-j', '-d', 'link', 'show', 'dev', HOSTS])
    const [link] = JSON.parse(text || '[]') as readonly KnownTunnel[]
    if (link === undefined) return null
    const { id, local, local6 } = link.linkinfo?.info_data ?? {}
    return { address: local ?? local6, mac: link.address, vni: id }
  }

  async #setNeighbours(namespace: string, { neighbours }: MemberHostsLayout): Promise<number> {
    const at = ['-n', namespace, '-j']
    const hops = JSON.parse(
      (await this.#read([...at, 'neigh', 'show', 'dev', HOSTS, 'nud', 'permanent'])) || '[]',
    ) as readonly KnownHop[]
    const ends = JSON.parse(
      (await this.#run('bridge', [...at, 'fdb', 'show', 'dev', HOSTS])) || '[]',
    ) as readonly KnownEnd[]
    const hopLines = differing(
      new Set(hops.map(({ dst, lladdr }) => `${dst} lladdr ${lladdr}`)),
      new Set(neighbours.flatMap((each) => each.hops.map((hop) => `${hop} lladdr ${each.mac}`))),
    )
    const endLines = differing(
      new Set(ends.flatMap(({ mac, dst }) => (dst === undefined ? [] : [`${mac} dst ${dst}`]))),
      new Set(neighbours.map(endOf)),
    )
    const fdb = [
      ...endLines.gone.map((line) => `fdb del ${onTunnel(line)}`),
      ...endLines.come.map((line) => `fdb replace ${onTunnel(line)}`),
    ]
    const neigh = [
      ...hopLines.gone.map((line) => `neigh del ${onTunnel(line)}`),
      ...hopLines.come.map((line) => `neigh replace ${onTunnel(line)} nud permanent`),
    ]
    if (fdb.length > 0) await this.#run('bridge', ['-n', namespace, '-batch', '-'], `${fdb.join('\n')}\n`)
    if (neigh.length > 0) await this.#run('ip', ['-n', namespace, '-batch', '-'], `${neigh.join('\n')}\n`)
    return fdb.length + neigh.length > 0 ? 1 : 0
  }

  /** By a route of the tunnel's interface `dup` sends to a hop; without one to the packet's own destination, or nowhere. */
  async #setHopRoutes({ netns }: DomainNames): Promise<number> {
    const routes = await this.#helper.routeList({ netns, table: MAIN_TABLE })
    const missing = HOP_PREFIXES.filter((prefix) => !routes.some(({ to, dev }) => to === prefix && dev === HOSTS))
    const changes = missing.map((to) => ({ do: 'replace' as const, to, via: null, dev: HOSTS, table: MAIN_TABLE }))
    if (changes.length > 0) await this.#helper.route({ netns, changes })
    return changes.length > 0 ? 1 : 0
  }

  async #setFormers({ netns }: DomainNames, hosts: MemberHostsLayout): Promise<number> {
    const differing = await this.#differingFormers({ netns }, hosts)
    for (const { family, wanted } of differing)
      await this.#helper.nftText({ netns, text: wanted?.text ?? withoutTable(family, FORMER_TABLE) })
    return differing.length > 0 ? 1 : 0
  }

  /** The tables of former nodes that are not as wanted; null is one that has to go. */
  async #differingFormers(
    { netns }: Pick<DomainNames, 'netns'>,
    { formers }: MemberHostsLayout,
  ): Promise<readonly { readonly family: 'ip' | 'ip6'; readonly wanted: WholeTable | null }[]> {
    const tunnel = formers.length === 0 ? 0 : await this.#helper.linkIndex({ netns, dev: HOSTS })
    const tables = renderFormerTables(formers, tunnel)
    const differing = []
    for (const family of ['ip', 'ip6'] as const) {
      const wanted = tables.find((table) => table.family === family) ?? null
      const { comment } = await this.#helper.nftGeneration({ netns, family, table: FORMER_TABLE })
      if (comment !== (wanted?.mark ?? null)) differing.push({ family, wanted })
    }
    return differing
  }

  async #setReturns(hosts: MemberHostsLayout): Promise<number> {
    const missing = await this.#missingReturns(hosts)
    const { mark, hostLink } = hosts
    const changes = missing.map((route) => ({ do: 'replace' as const, ...route, dev: hostLink, table: mark }))
    if (changes.length > 0) await this.#helper.route({ netns: rootNetns(this.#config), changes })
    let rules = 0
    for (const version of [4, 6] as const) {
      if (await this.#hasRule(mark, version)) continue
      await this.#ip([`-${version}`, 'rule', 'add', ...ruleOf(mark)])
      rules++
    }
    return rules + (changes.length > 0 ? 1 : 0)
  }

  async #missingReturns({ mark, returns }: MemberHostsLayout): Promise<MemberHostsLayout['returns']> {
    const routes = await this.#helper.routeList({ netns: rootNetns(this.#config), table: mark })
    return returns.filter(({ to, via }) => !routes.some((route) => route.to === to && route.via === via))
  }

  async #hasRule(mark: number, version: 4 | 6): Promise<boolean> {
    const rules = JSON.parse(await this.#ip([`-${version}`, '-N', '-j', 'rule', 'show'])) as readonly KnownRule[]
    return rules.some(({ priority, fwmark }) => priority === RETURN_PREFERENCE && Number(fwmark) === mark)
  }

  async #read(args: readonly string[]): Promise<string> {
    return this.#run('ip', args).catch((error: unknown) => {
      if (/Cannot find device|does not exist|No such file|Cannot open network namespace/.test(String(error))) return ''
      throw error
    })
  }

  #ip(args: readonly string[]): Promise<string> {
    return this.#run('ip', [...(this.#config.rootNamespace ? ['-n', this.#config.rootNamespace] : []), ...args])
  }

  #sysctl(args: readonly string[]): Promise<string> {
    const { rootNamespace } = this.#config
    const [file, ...words] = rootNamespace ? ['ip', 'netns', 'exec', rootNamespace, 'sysctl'] : ['sysctl']
    return this.#run(file!, [...words, ...args])
  }
}

/** A packet's source must be reachable, by whatever interface (RFC 3704, section 2.4). */
const LOOSE = '2'

const ruleOf = (mark: number): readonly string[] =>
  `preference ${RETURN_PREFERENCE} fwmark 0x${mark.toString(16)} lookup ${mark}`.split(' ')

const endOf = ({ mac, address }: HostNeighbour): string => `${mac} dst ${address}`

/** A line's first word is the key; the device comes after it. */
const onTunnel = (line: string): string => line.replace(' ', ` dev ${HOSTS} `)

function differing(
  there: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
): { readonly gone: readonly string[]; readonly come: readonly string[] } {
  return { gone: [...there].filter((line) => !wanted.has(line)), come: [...wanted].filter((line) => !there.has(line)) }
}

/** This node's end. Absent: as the kernel does not say. */
interface Tunnel {
  readonly address: string | undefined
  readonly mac: string
  readonly vni: number | undefined
}

/**
 * Whether the kernel can give the tunnel the wanted address. Packets find the same interface then: one that is made again
 * has another index, which no table names yet.
 */
const isMovable = (there: Tunnel, wanted: Tunnel): boolean =>
  there.mac === wanted.mac && there.vni === wanted.vni && isIPv6(there.address ?? '') === isIPv6(wanted.address ?? '')

interface KnownTunnel {
  readonly address: string
  readonly linkinfo?: {
    readonly info_data?: { readonly id?: number; readonly local?: string; readonly local6?: string }
  }
}

interface KnownHop {
  readonly dst: string
  readonly lladdr: string
}

interface KnownEnd {
  readonly mac: string
  readonly dst?: string
}

interface KnownRule {
  readonly priority: number
  readonly fwmark?: string
}
