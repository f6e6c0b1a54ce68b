import { hash } from 'node:crypto'
import { endianness } from 'node:os'
import { ipToBytes, parseIp } from '@spout/net'
import { HelperError, type Log, type NativeHelper, type NftChange } from '@spout/sys'
import { type DomainConfig, rootNetns } from '../domain/domain-config.ts'
import { domainNames } from '../domain/domain-names.ts'
import {
  addGeneration,
  DECLARE_GENERATION,
  GENERATION_MAP,
  isAtGeneration,
  removeGeneration,
} from '../nft/generation.ts'
import { chain, type WholeTable, wholeTable, withoutTable } from '../nft/whole-table.ts'

type Family = 4 | 6

const MAPS = ['link4', 'via4', 'link6', 'via6'] as const

const tableName = ({ instance }: DomainConfig): string => `spout-${instance}`

/**
 * Renders table `netdev spout-<instance>` of the root namespace, without elements. @param index of the fabric
 * interface, which the chain is attached to
 */
export function renderIngressSteering(config: DomainConfig, index: number): WholeTable {
  const hook = `type filter hook ingress device "${config.fabricInterface}" priority filter; policy accept;`
  const body = [
    DECLARE_GENERATION,
    '  map link4 { type ipv4_addr : iface_index; }',
    '  map via4 { type ipv4_addr : ipv4_addr; }',
    '  map link6 { type ipv6_addr : iface_index; }',
    '  map via6 { type ipv6_addr : ipv6_addr; }',
    ...chain('arriving', hook, ([4, 6] as const).map(rule)),
  ]
  return wholeTable('netdev', tableName(config), body, index)
}

/**
 * Matches the same packets as the steering rules. A packet whose hop limit expires is left to the kernel, which
 * notifies its sender.
 */
function rule(version: Family): string {
  const [ip, life, protocols] =
    version === 4 ? ['ip', 'ttl', 'tcp, udp, sctp, icmp'] : ['ip6', 'hoplimit', 'tcp, udp, sctp']
  const mine = `meta pkttype host ${ip} ${life} > 1 meta l4proto { ${protocols} }`
  return `${mine} fwd ${ip} to ${ip} daddr map @via${version} device ${ip} daddr map @link${version}`
}

/** The domain of each VIP of the fabric. */
export type Steered = Iterable<readonly [address: string, domain: number]>

interface Held {
  readonly domain: number
  readonly digest: bigint
}

/**
 * Moves packets for VIPs into their domains at the ingress hook, before the root namespace's rules and routes, which
 * saves each packet a hop. The steering rules do the same for packets that it does not take. So a failure here costs
 * only time; then the whole table is removed.
 */
export class IngressSteering {
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #log: Log
  readonly #held = new Map<string, Held>()
  /** The uplinks' interface indexes in the elements. An uplink that is created again has another index. */
  readonly #links = new Map<number, number>()
  #generation = 0n
  #stale = true
  /** Whether the table exists. Without VIPs it is removed, so that no packet passes it. */
  #exists = false
  /** The kernel does not support this. */
  #refused = false
  /** The failure has been logged. */
  #failing = false
  #changes = 0

  constructor(options: { readonly config: DomainConfig; readonly helper: NativeHelper; readonly log: Log }) {
    this.#config = options.config
    this.#helper = options.helper
    this.#log = options.log
  }

  get counters(): { readonly changes: number } {
    return { changes: this.#changes }
  }

  /** Assumes that the table holds `wanted` if its generation matches; otherwise the next `apply` loads it. */
  async adopt(wanted: Steered): Promise<void> {
    await this.#expect(wanted)
    await this.#observe()
  }

  /** Loads the table if it is not as applied. Never rejects. */
  async mend(whole: () => Steered): Promise<void> {
    await this.#observe()
    await this.apply(new Map(), whole)
  }

  /**
   * @param changes addresses and their new domains; null removes one
   * @param whole all wanted addresses after the changes; read only if the table must be loaded. Never rejects.
   */
  async apply(changes: ReadonlyMap<string, number | null>, whole: () => Steered): Promise<void> {
    if (this.#refused || (changes.size === 0 && !this.#stale)) return
    try {
      if (!this.#exists) this.#stale = true
      if (!this.#stale) await this.#edit(changes)
      if (this.#stale) await this.#load(whole())
      this.#failing = false
    } catch (error) {
      this.#stale = true
      if (!this.#failing) this.#log.warn({ error: String(error) }, 'VIPs are steered by routes alone')
      this.#failing = true
      await this.#drop()
    }
  }

  async #observe(): Promise<void> {
    this.#stale = !this.#refused && !(await this.#isAsHeld().catch(() => false))
  }

  /** Makes the table hold exactly `whole`; changes nothing if it does. Never rejects. */
  async reload(whole: () => Steered): Promise<void> {
    const wanted = new Map<string, number | null>(Array.from(this.#held.keys(), (address) => [address, null]))
    for (const [address, domain] of whole()) wanted.set(address, domain)
    await this.apply(wanted, whole)
  }

  async #edit(changes: ReadonlyMap<string, number | null>): Promise<void> {
    for (const domain of new Set(changes.values()))
      if (domain !== null && !(await this.#linkIsKnown(domain))) {
        this.#stale = true
        return
      }
    const deletes: string[] = []
    const adds: [string, Held][] = []
    let generation = this.#generation
    for (const [address, domain] of changes) {
      const before = this.#held.get(address)
      const after = domain === null ? undefined : this.#holding(address, domain)
      if (before?.digest === after?.digest) continue
      generation ^= (before?.digest ?? 0n) ^ (after?.digest ?? 0n)
      if (before !== undefined) deletes.push(address)
      if (after !== undefined) adds.push([address, after])
    }
    if (deletes.length + adds.length === 0) return
    const remember = [removeGeneration, addGeneration(generation)]
    await this.#send([...removal(deletes), ...this.#addition(adds), ...remember])
    for (const address of deletes) this.#held.delete(address)
    for (const [address, held] of adds) this.#held.set(address, held)
    this.#generation = generation
  }

  /** Makes or empties the table and adds all elements, in one transaction: no packet meets an empty table. */
  async #load(wanted: Steered): Promise<void> {
    const { mark, text } = await this.#skeleton()
    const { comment } = await this.#helper.nftGeneration(this.#at)
    await this.#expect(wanted)
    const content = [...this.#addition([...this.#held]), addGeneration(this.#generation)]
    const flushes = [...MAPS, GENERATION_MAP].map((set): NftChange => ({ do: 'flush', set }))
    if (comment === mark) await this.#send([...flushes, ...content])
    else await this.#replace(text, content)
    this.#exists = true
    this.#stale = false
  }

  async #replace(text: string, content: readonly NftChange[]): Promise<void> {
    try {
      await this.#send(content, text)
    } catch (error) {
      // An error that names no element is about the table itself.
      this.#refused = error instanceof HelperError && error.index === null
      throw error
    }
  }

  /** Records `wanted` as held, with the current uplinks. */
  async #expect(wanted: Steered): Promise<void> {
    this.#held.clear()
    this.#links.clear()
    this.#generation = 0n
    const gone = new Set<number>()
    for (const [address, domain] of wanted) {
      if (!this.#links.has(domain) && !gone.has(domain)) {
        const index = await this.#linkIndex(domain)
        if (index === null) gone.add(domain)
        else this.#links.set(domain, index)
      }
      if (gone.has(domain)) continue
      const held = this.#holding(address, domain)
      this.#held.set(address, held)
      this.#generation ^= held.digest
    }
  }

  async #isAsHeld(): Promise<boolean> {
    const { exists, comment } = await this.#helper.nftGeneration(this.#at)
    this.#exists = exists
    if (!exists && this.#held.size === 0) return true
    // Asked at once, so that the helper wakes up once.
    const [{ mark }, isNewest, ...known] = await Promise.all([
      this.#skeleton(),
      isAtGeneration(this.#helper, this.#at, this.#generation),
      ...Array.from(this.#links.keys(), (domain) => this.#linkIsKnown(domain)),
    ])
    return comment === mark && isNewest && known.every(Boolean)
  }

  /** False if its index differs from the one in the elements. */
  async #linkIsKnown(domain: number): Promise<boolean> {
    const index = await this.#linkIndex(domain)
    if (index === null) return false
    const known = this.#links.get(domain)
    if (known === undefined) this.#links.set(domain, index)
    return known === undefined || known === index
  }

  async #linkIndex(domain: number): Promise<number | null> {
    const dev = domainNames(this.#config, domain).rootLink
    return this.#helper.linkIndex({ netns: rootNetns(this.#config), dev }).catch(() => null)
  }

  /** Removes the table, since its content is not known to be right. */
  async #drop(): Promise<void> {
    const { netns, family, table } = this.#at
    await this.#helper.nftText({ netns, text: withoutTable(family, table) }).catch(() => {})
  }

  /** @param text nft commands that make the table first */
  #send(changes: readonly NftChange[], text?: string): Promise<void> {
    this.#changes++
    return this.#helper.nftBatch({ ...this.#at, changes, ...(text !== undefined && { text }) })
  }

  async #skeleton(): Promise<WholeTable> {
    const dev = this.#config.fabricInterface
    return renderIngressSteering(this.#config, await this.#helper.linkIndex({ netns: rootNetns(this.#config), dev }))
  }

  #holding(address: string, domain: number): Held {
    const digest = hash('sha256', `${address} ${this.#links.get(domain)}`, 'hex').slice(0, 32)
    return { domain, digest: BigInt(`0x${digest}`) }
  }

  #addition(adds: readonly (readonly [string, Held])[]): readonly NftChange[] {
    return ([4, 6] as const).flatMap((version) => {
      const links: Uint8Array[] = []
      const vias: Uint8Array[] = []
      const ends = new Map<number, { readonly link: Uint8Array; readonly via: Uint8Array }>()
      for (const [address, { domain }] of adds) {
        const ip = parseIp(address)
        if (ip.version !== version) continue
        const end = ends.get(domain) ?? this.#end(domain, version)
        ends.set(domain, end)
        const key = ipToBytes(ip)
        links.push(key, end.link)
        vias.push(key, end.via)
      }
      if (links.length === 0) return []
      const keyBytes = version === 4 ? 4 : 16
      return [
        { do: 'add', set: `link${version}`, keyBytes, dataBytes: 4, elements: Buffer.concat(links) },
        { do: 'add', set: `via${version}`, keyBytes, dataBytes: keyBytes, elements: Buffer.concat(vias) },
      ] satisfies NftChange[]
    })
  }

  #end(domain: number, version: Family): { readonly link: Uint8Array; readonly via: Uint8Array } {
    const { ipv4, ipv6 } = domainNames(this.#config, domain).domain
    return { link: hostOrder(this.#links.get(domain)!), via: ipToBytes(parseIp(version === 4 ? ipv4 : ipv6)) }
  }

  get #at(): { readonly netns?: string | undefined; readonly family: 'netdev'; readonly table: string } {
    return { netns: rootNetns(this.#config), family: 'netdev', table: tableName(this.#config) }
  }
}

function removal(addresses: readonly string[]): readonly NftChange[] {
  return ([4, 6] as const).flatMap((version) => {
    const keys = addresses
      .map(parseIp)
      .filter((ip) => ip.version === version)
      .map(ipToBytes)
    if (keys.length === 0) return []
    const one = { do: 'delete', keyBytes: version === 4 ? 4 : 16, elements: Buffer.concat(keys) } as const
    return [`link${version}`, `via${version}`].map((set) => ({ ...one, set }))
  })
}

/** Interface indexes are in host order in the kernel's registers. */
function hostOrder(index: number): Buffer {
  const bytes = Buffer.alloc(4)
  if (endianness() === 'LE') bytes.writeUInt32LE(index)
  else bytes.writeUInt32BE(index)
  return bytes
}
