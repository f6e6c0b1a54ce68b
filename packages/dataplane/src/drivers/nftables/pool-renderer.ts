import { NO_MEMBER, type NodePool } from '@spout/model/node-state'
import { formatIp, type Ip, parseIp } from '@spout/net'
import { effectiveSlots } from '@spout/plan/effective-slots'
import type { Shares } from '../../checks/slow-start.ts'
import type { WantedEntry } from '../../driver.ts'
import type { PoolHealth } from './member-fates.ts'
import { answerMark, poolMark } from './pool-mark.ts'
import { type Family, type RecordBuilder, setOf } from './record-builder.ts'
import { pack, type Transport } from './registers.ts'
import { PORT_BYTES, recordBytes, SETS, type SetName } from './sets.ts'

interface Endpoint {
  readonly ip: Ip
  readonly port: number
  /** Address . port as a map's value. */
  readonly packed: Buffer
}

/** Address, protocol and port, each in whole registers. */
const endpointBytes = ({ version }: Ip): number => (version === 4 ? 12 : 24)

/** What the node knows of the members: who is down, and who is on the way up. */
type Health = Pick<WantedEntry, 'down' | 'shares'>

/** The pools of one entry, each rendered once however many services share it. */
export class PoolRenderer {
  readonly #pools: ReadonlyMap<number, NodePool>
  readonly #rendering = new Map<number, PoolInUse>()
  readonly #down: ReadonlySet<string>
  readonly #shares: Shares | undefined
  readonly #records: RecordBuilder

  constructor(pools: readonly NodePool[], { down, shares }: Health, records: RecordBuilder) {
    this.#pools = new Map(pools.map((pool) => [pool.number, pool]))
    this.#down = down
    this.#shares = shares
    this.#records = records
  }

  /** Null for no pool, or one that the entry does not have. */
  find(number: number | null): PoolInUse | null {
    const pool = number === null ? undefined : this.#pools.get(number)
    if (pool === undefined) return null
    const known = this.#rendering.get(pool.number)
    if (known !== undefined) return known
    const rendering = new PoolInUse(pool, { down: this.#down, shares: this.#shares }, this.#records)
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
  /** By member index; null is a free index. */
  readonly #endpoints: readonly (Endpoint | null)[]
  readonly #rendered = new Set<SetName>()

  constructor(pool: NodePool, { down, shares }: Health, records: RecordBuilder) {
    this.mark = poolMark(pool)
    this.#pool = pool
    this.#down = down
    this.#shares = shares
    this.#records = records
    this.#endpoints = pool.members.map((member) => {
      if (member === null) return null
      const ip = parseIp(member.address)
      return { ip, port: member.port, packed: pack({ address: ip }, { port: member.port }) }
    })
  }

  get health(): PoolHealth {
    return { pool: this.#pool, down: this.#down }
  }

  /** Whom a new flow is translated to, by slot. */
  renderMembers(version: Family): void {
    this.#renderSlots(setOf('member', version), version)
  }

  /** Where packets of a slot are forwarded to as they are: the same members, by their address alone; remote ones apart. */
  renderNextHops(version: Family, isRemote: (ip: Ip) => boolean): void {
    this.#renderSlots(setOf('nexthop', version), version, (ip) => !isRemote(ip))
    this.#renderSlots(setOf('remote', version), version, isRemote)
  }

  /** Addresses of its members for which that is true. */
  addresses(is: (ip: Ip) => boolean): readonly string[] {
    return this.#endpoints.flatMap((endpoint) => (endpoint !== null && is(endpoint.ip) ? [formatIp(endpoint.ip)] : []))
  }

  /** Ports of its members that differ from this one. */
  otherPorts(port: number): readonly number[] {
    return this.#endpoints.flatMap((endpoint) => (endpoint === null || endpoint.port === port ? [] : [endpoint.port]))
  }

  /** Replies of these members that come before any request leave with this VIP as their source. The first VIP of a family wins. */
  renderReverse(transport: Transport, vip: { readonly ip: Ip; readonly port: number }): void {
    const { version } = vip.ip
    const own = this.#endpoints.filter((endpoint) => endpoint !== null && endpoint.ip.version === version)
    if (own.length === 0) return
    const mark = pack({ mark: answerMark(this.#pool, transport) })
    const protocol = pack({ transport })
    const size = endpointBytes(vip.ip)
    const bytes = Buffer.allocUnsafe(own.length * (size + mark.length))
    let at = 0
    for (const endpoint of own) {
      const { packed } = endpoint!
      const address = packed.length - 4
      at += packed.copy(bytes, at, 0, address)
      at += protocol.copy(bytes, at)
      at += packed.copy(bytes, at, address)
      at += mark.copy(bytes, at)
    }
    this.#records.addEach(setOf('reverse', version), bytes, size, mark.length)
    this.#records.add(setOf('answer', version), mark, pack({ address: vip.ip }))
    this.#records.add(setOf('answerPort', version), mark, pack({ port: vip.port }).subarray(0, PORT_BYTES))
  }

  /** Packs the slots of one family, once: none when no member of that family can serve. */
  #renderSlots(set: SetName, version: Family, has: (ip: Ip) => boolean = () => true): void {
    if (this.#rendered.has(set)) return
    this.#rendered.add(set)
    const { dataBytes } = SETS[set]
    const dataWords = dataBytes / 4
    // By member index, register by register.
    const values = new Uint32Array(this.#endpoints.length * dataWords)
    const valueBytes = new Uint8Array(values.buffer)
    const isServed = this.#endpoints.map((endpoint, index) => {
      if (endpoint === null || endpoint.ip.version !== version || !has(endpoint.ip)) return false
      valueBytes.set(endpoint.packed.subarray(0, dataBytes), index * dataBytes)
      return true
    })
    const slots = this.#slots(version)
    // In the kernel's registers, which hold marks in host order; each record is of whole registers.
    const words = new Uint32Array((slots.length * recordBytes(SETS[set])) / 4)
    let at = 0
    // By index: an iterator would make an array for each of millions of slots.
    for (let slot = 0; slot < slots.length; slot++) {
      const index = slots[slot]!
      if (index === NO_MEMBER || isServed[index] !== true) continue
      words[at++] = this.mark
      words[at++] = slot
      for (let word = 0; word < dataWords; word++) words[at++] = values[index * dataWords + word]!
    }
    if (at > 0) this.#records.addLarge(set, Buffer.from(words.buffer, 0, 4 * at))
  }

  /** Members of the other family cannot be reached from this one: their slots are dealt like those of members that are down. */
  #slots(version: Family): Uint16Array {
    const foreign = this.#pool.members.flatMap((member, index) => {
      const endpoint = this.#endpoints[index]
      return member !== null && endpoint && endpoint.ip.version !== version ? [member.id] : []
    })
    if (foreign.length === 0) return effectiveSlots(this.#pool, this.#down, this.#shares)
    // Panic would give the unreachable ones their slots back.
    return effectiveSlots({ ...this.#pool, panicThreshold: 0 }, new Set([...this.#down, ...foreign]), this.#shares)
  }
}
