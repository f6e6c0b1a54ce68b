import { NO_MEMBER, type NodePool } from '@spout/model/node-state'
import type { Transport } from '@spout/model/protocols'
import { formatIp, type Ip, parseIp } from '@spout/net'
import { effectiveSlots } from '@spout/plan/effective-slots'
import type { Shares, WantedEntry } from '../../contracts/driver.ts'
import { keptMember, servingMember } from './kept-clients.ts'
import type { MemberPlaces } from './member-places.ts'
import { answerMark, poolMark } from './pool-mark.ts'
import { type Family, type RecordBuilder, setOf } from './record-builder.ts'
import { pack } from './registers.ts'
import type { SilentNode } from './rendered.ts'
import { PORT_BYTES, recordBytes, SETS, type SetName } from './sets.ts'

interface Endpoint {
  readonly ip: Ip
  readonly port: number
}

/** Number of 4-byte registers of an address. */
const addressWords = (version: Family): number => (version === 4 ? 1 : 4)

/** Members that are down, and shares of members in slow start. */
type Health = Pick<WantedEntry, 'down' | 'shares'>

/** The pools of one entry. Each is rendered once, even if several services share it. */
export class PoolRenderer {
  readonly #pools: ReadonlyMap<number, NodePool>
  readonly #rendering = new Map<number, PoolInUse>()
  readonly #down: ReadonlySet<string>
  readonly #shares: Shares | undefined
  readonly #records: RecordBuilder
  readonly #places: MemberPlaces | null

  /** @param places of the members, if this node reaches only its own */
  constructor(
    pools: readonly NodePool[],
    { down, shares }: Health,
    records: RecordBuilder,
    places: MemberPlaces | null = null,
  ) {
    this.#pools = new Map(pools.map((pool) => [pool.number, pool]))
    this.#down = down
    this.#shares = shares
    this.#records = records
    this.#places = places
  }

  /** Null without a pool, or if the entry does not have it. */
  find(number: number | null): PoolInUse | null {
    const pool = number === null ? undefined : this.#pools.get(number)
    if (pool === undefined) return null
    const known = this.#rendering.get(pool.number)
    if (known !== undefined) return known
    const rendering = new PoolInUse(pool, { down: this.#down, shares: this.#shares }, this.#records, this.#places)
    this.#rendering.set(pool.number, rendering)
    return rendering
  }
}

/** One pool that a service balances over. */
export class PoolInUse {
  readonly mark: number
  readonly #pool: NodePool
  readonly #down: ReadonlySet<string>
  readonly #shares: Shares | undefined
  readonly #records: RecordBuilder
  readonly #places: MemberPlaces | null
  /** By member index; null is a free index. */
  readonly #endpoints: readonly (Endpoint | null)[]
  readonly #rendered = new Set<SetName>()
  readonly #packed = new Map<Family, Uint32Array>()

  constructor(pool: NodePool, { down, shares }: Health, records: RecordBuilder, places: MemberPlaces | null) {
    this.#places = places
    this.mark = poolMark(pool)
    this.#pool = pool
    this.#down = down
    this.#shares = shares
    this.#records = records
    this.#endpoints = pool.members.map((member) => {
      if (member === null) return null
      return { ip: parseIp(member.address), port: member.port }
    })
  }

  /** Whether a client's member is remembered, beside its hash. */
  get keepsClients(): boolean {
    return this.#pool.sourceAffinity && this.#pool.keepSeconds !== undefined
  }

  /** Renders how long the prefix is of the networks that clients of this family are told apart by, if they are. */
  renderNetwork(version: Family): void {
    const { sourceAffinity, clientNetworks } = this.#pool
    const prefix = clientNetworks?.[version === 4 ? 'ipv4Prefix' : 'ipv6Prefix']
    if (!sourceAffinity || prefix === undefined) return
    this.#records.add(setOf('network', version), pack({ mark: this.mark }), pack({ mark: prefix }))
  }

  /** Renders the members that new flows are translated to, by slot or, if clients are remembered, by `keptMember`. */
  renderMembers(version: Family): void {
    if (this.keepsClients) this.#renderKept(version)
    else this.#renderSlots(setOf('member', version), version, this.#isHere, this.#isHere)
  }

  /** A member that has no slot serves nobody: who is remembered to be its client is led by the slots again. */
  #renderKept(version: Family): void {
    const dealt = setOf('dealt', version)
    if (this.#rendered.has(dealt)) return
    this.#rendered.add(dealt)
    const kept = (index: number): number => keptMember(index, this.#pool.keepSeconds ?? 0)
    const value = (index: number): Buffer => pack({ mark: servingMember(kept(index)) })
    const serving = new Set<number>()
    for (const [slot, index] of this.#slots(version, this.#isHere).entries()) {
      if (index === NO_MEMBER || this.#endpoints[index]?.ip.version !== version) continue
      serving.add(index)
      this.#records.add(dealt, pack({ mark: this.mark }, { mark: slot }), value(index))
    }
    for (const index of serving) {
      const identity = pack({ mark: this.mark }, { mark: kept(index) })
      this.#records.add(dealt, identity, value(index))
      const { ip, port } = this.#endpoints[index]!
      this.#records.add(setOf('member', version), identity, pack({ address: ip }, { port }))
    }
  }

  /**
   * Renders the members that packets are forwarded to unchanged, by slot. They are the same members, by address alone,
   * with remote ones in a map of their own.
   */
  renderNextHops(version: Family, isRemote: (ip: Ip) => boolean): void {
    this.#renderSlots(setOf('nexthop', version), version, (ip) => !isRemote(ip))
    this.#renderSlots(setOf('remote', version), version, isRemote)
  }

  /**
   * Renders the node of each slot. Nodes agree on it: what one of them does not reach is left out by it alone. A member
   * of this node is translated here by the same slot, and one of another node there.
   */
  renderSpread(version: Family, places: MemberPlaces): void {
    const set = setOf('spread', version)
    if (this.#rendered.has(set)) return
    this.#rendered.add(set)
    const hosts = this.#endpoints.map((endpoint) => (endpoint === null ? null : places.hostOf(endpoint.ip)))
    const slots = this.#slots(version, (ip) => places.hostOf(ip) !== null)
    for (const [slot, index] of slots.entries()) {
      const host = index === NO_MEMBER ? null : (hosts[index] ?? null)
      if (host === null || this.#endpoints[index]?.ip.version !== version) continue
      this.#records.add(set, pack({ mark: this.mark }, { mark: slot }), pack({ mark: host }))
      this.#records.add(setOf('serves', version), pack({ mark: this.mark }, { mark: host }))
      if (host === places.own) this.#records.add(setOf('hosted', version), pack({ mark: this.mark }))
    }
  }

  /** The nodes whose members of this family are all down. */
  silentNodes(version: Family, places: MemberPlaces): readonly SilentNode[] {
    if (this.#down.size === 0) return []
    const hosts = new Map<number, boolean>()
    for (const [index, endpoint] of this.#endpoints.entries()) {
      const host = endpoint?.ip.version === version ? places.hostOf(endpoint.ip) : null
      if (host === null) continue
      hosts.set(host, hosts.get(host) !== false && this.#down.has(this.#pool.members[index]!.id))
    }
    return [...hosts].flatMap(([host, isSilent]) => (isSilent ? [{ version, mark: this.mark, host }] : []))
  }

  /** Addresses of members that meet a condition. */
  addresses(is: (ip: Ip) => boolean): readonly string[] {
    return this.#endpoints.flatMap((endpoint) => (endpoint !== null && is(endpoint.ip) ? [formatIp(endpoint.ip)] : []))
  }

  /** Ports of members that differ from this one. */
  otherPorts(port: number): readonly number[] {
    return this.#endpoints.flatMap((endpoint) => (endpoint === null || endpoint.port === port ? [] : [endpoint.port]))
  }

  /**
   * Renders the VIP that replies get as their source if they arrive before any request. The first VIP of a family wins.
   */
  renderReverse(transport: Transport, vip: { readonly ip: Ip; readonly port: number }): void {
    const { version } = vip.ip
    if (!this.#endpoints.some((endpoint) => endpoint?.ip.version === version)) return
    const mark = pack({ mark: answerMark(this.#pool, transport) })
    const [markWord = 0] = wordsOf(mark)
    const [protocol = 0] = wordsOf(pack({ transport }))
    const packed = this.#packedOf(version)
    const length = addressWords(version)
    const words = new Uint32Array(this.#endpoints.length * (length + 3))
    let at = 0
    for (let index = 0; index < this.#endpoints.length; index++) {
      if (this.#endpoints[index]?.ip.version !== version) continue
      const from = index * (length + 1)
      for (let word = 0; word < length; word++) words[at++] = packed[from + word]!
      words[at++] = protocol
      words[at++] = packed[from + length]!
      words[at++] = markWord
    }
    const set = setOf('reverse', version)
    this.#records.addEach(set, Buffer.from(words.buffer, 0, 4 * at), 4 * (length + 2), mark.length)
    this.#records.add(setOf('answer', version), mark, pack({ address: vip.ip }))
    this.#records.add(setOf('answerPort', version), mark, pack({ port: vip.port }).subarray(0, PORT_BYTES))
  }

  /** Whether this node translates to a member: with return path `node` only to its own. */
  readonly #isHere = (ip: Ip): boolean => this.#places === null || this.#places.hostOf(ip) === this.#places.own

  /**
   * Packs the slots of one family, once; none if no member of that family can serve.
   * @param has whether a member is in this set
   * @param isReached whether its slots are its own; those of others are reassigned
   */
  #renderSlots(
    set: SetName,
    version: Family,
    has: (ip: Ip) => boolean = () => true,
    isReached: (ip: Ip) => boolean = () => true,
  ): void {
    if (this.#rendered.has(set)) return
    this.#rendered.add(set)
    const { dataBytes } = SETS[set]
    const dataWords = dataBytes / 4
    const values = this.#packedOf(version)
    const stride = addressWords(version) + 1
    const isServed = this.#endpoints.map(
      (endpoint) => endpoint !== null && endpoint.ip.version === version && has(endpoint.ip),
    )
    const slots = this.#slots(version, isReached)
    // As 32-bit words in host order, like marks in the kernel's registers; each record consists of whole registers.
    const words = new Uint32Array((slots.length * recordBytes(SETS[set])) / 4)
    let at = 0
    // By index, since an iterator would create an array for each of millions of slots.
    for (let slot = 0; slot < slots.length; slot++) {
      const index = slots[slot]!
      if (index === NO_MEMBER || isServed[index] !== true) continue
      words[at++] = this.mark
      words[at++] = slot
      for (let word = 0; word < dataWords; word++) words[at++] = values[index * stride + word]!
    }
    if (at > 0) this.#records.addLarge(set, Buffer.from(words.buffer, 0, 4 * at))
  }

  /** Address and port of the members of one family as the kernel has them in its registers, by member index. */
  #packedOf(version: Family): Uint32Array {
    const known = this.#packed.get(version)
    if (known !== undefined) return known
    const stride = addressWords(version) + 1
    const words = new Uint32Array(this.#endpoints.length * stride)
    const bytes = new DataView(words.buffer)
    for (const [index, endpoint] of this.#endpoints.entries()) {
      if (endpoint?.ip.version !== version) continue
      const at = 4 * stride * index
      if (version === 4) bytes.setUint32(at, Number(endpoint.ip.value))
      else {
        bytes.setBigUint64(at, endpoint.ip.value >> 64n)
        bytes.setBigUint64(at + 8, endpoint.ip.value & 0xffff_ffff_ffff_ffffn)
      }
      bytes.setUint16(at + 4 * (stride - 1), endpoint.port)
    }
    this.#packed.set(version, words)
    return words
  }

  /** Members of the other family are unreachable. Their slots are reassigned like those of members that are down. */
  #slots(version: Family, isReached: (ip: Ip) => boolean): Uint16Array {
    const foreign = this.#pool.members.flatMap((member, index) => {
      const endpoint = this.#endpoints[index]
      if (member === null || !endpoint) return []
      return endpoint.ip.version === version && isReached(endpoint.ip) ? [] : [member.id]
    })
    if (foreign.length === 0) return effectiveSlots(this.#pool, this.#down, this.#shares)
    // The panic threshold would give unreachable members their slots back.
    return effectiveSlots({ ...this.#pool, panicThreshold: 0 }, new Set([...this.#down, ...foreign]), this.#shares)
  }
}

/** The bytes as 32-bit words in the order of the registers. */
const wordsOf = (bytes: Buffer): Uint32Array => new Uint32Array(Uint8Array.from(bytes).buffer)
