import { createHash } from 'node:crypto'
import { NO_MEMBER, type NodePool, type Service } from '@spout/model/node-state'
import { type Cidr, cidrContains, firstIp, type Ip, lastIp, parseCidr, parseIp } from '@spout/net'
import { effectiveSlots } from '@spout/plan'
import type { WantedEntry } from '../../driver.ts'
import { PackedRecords } from './packed-records.ts'
import { poolMark } from './pool-mark.ts'
import { pack, type Transport, writeMark } from './registers.ts'
import type { Rendered, RenderedService } from './rendered.ts'
import { recordBytes, SETS, type SetName } from './sets.ts'

/** Where the proxy of the domain accepts what is meant for a listener; null while it does not. */
export interface FrontDoor {
  readonly address4: string | null
  readonly address6: string | null
  readonly port: number
}
export type FindFrontDoor = (listenerId: string) => FrontDoor | null

/** Packed records of one entry while it is rendered. A record whose identity is there already is left out. */
class Records {
  readonly #bySet = new Map<SetName, Map<string, Buffer>>()
  /** Many records at once whose identities are known to differ. */
  readonly #large = new Map<SetName, readonly Buffer[]>()

  add(set: SetName, identity: Buffer, rest: Buffer = Buffer.alloc(0)): void {
    const records = this.#bySet.get(set) ?? new Map<string, Buffer>()
    const key = identity.toString('latin1')
    if (!records.has(key)) records.set(key, Buffer.concat([identity, rest]))
    this.#bySet.set(set, records)
  }

  addLarge(set: SetName, records: Buffer): void {
    this.#large.set(set, [...(this.#large.get(set) ?? []), records])
  }

  packed(): PackedRecords {
    const parts = new Map<SetName, readonly Buffer[]>(this.#large)
    for (const [set, records] of this.#bySet) parts.set(set, [...(parts.get(set) ?? []), ...records.values()])
    return new PackedRecords(parts)
  }
}

type Family = 4 | 6
const setOf = <Name extends string>(name: Name, version: Family) => `${name}${version}` as const

/**
 * One entry as elements of `table inet spout`. The same entry, health and proxy ports give the same bytes on every
 * node. What has no member to go to, or no door in the proxy, has no element: the domain's guard refuses it.
 */
export function render(wanted: WantedEntry, findFrontDoor: FindFrontDoor): Rendered {
  const { entry } = wanted
  const records = new Records()
  const vips = entry.vips.map((vip) => ({ address: vip.address, scope: vip.scope, ip: parseIp(vip.address) }))
  const families = new Set(vips.map((vip) => vip.ip.version))
  const pools = new Map(entry.pools.map((pool) => [pool.number, pool]))
  const serving = new Map<string, boolean>()
  const services: RenderedService[] = []
  for (const service of entry.services) {
    const transport = service.protocol === 'udp' ? 'udp' : 'tcp'
    const proxied = service.protocol === 'http' || service.protocol === 'tcp-proxy'
    const pool = proxied || service.pool === null ? undefined : pools.get(service.pool)
    if (pool !== undefined)
      for (const version of families) {
        const key = `${pool.number}/${version}`
        if (!serving.has(key)) serving.set(key, renderMembers(pool, version, wanted.down, records))
      }
    for (const { ip } of vips) {
      const identity = pack({ address: ip }, { transport }, { port: service.port })
      renderAdmission(records, service, ip.version, identity)
      const front = proxied ? frontOf(findFrontDoor(service.id), ip.version) : null
      if (front !== null)
        records.add(setOf('front', ip.version), identity, pack({ address: front.address }, { port: front.port }))
      if (pool !== undefined && serving.get(`${pool.number}/${ip.version}`))
        records.add(setOf('service', ip.version), identity, pack({ mark: poolMark(pool) }))
    }
    if (pool !== undefined && wanted.domain.returnPath === 'gateway')
      for (const { ip, scope } of vips)
        if (scope === 'fabric') renderReverse(records, pool, transport, { ip, port: service.port })
    services.push({
      listenerId: service.id,
      transport,
      port: service.port,
      down: transport === 'udp' && pool !== undefined ? downMembers(pool, wanted.down) : [],
    })
  }
  const packed = records.packed()
  return {
    key: wanted.key,
    loadBalancerId: entry.id,
    domain: entry.domain,
    vips: entry.vips.map(({ address, scope }) => ({ address, scope })),
    services,
    records: packed,
    digest: digestOf(wanted.key, packed),
  }
}

/** Counters, connection limit and admitted sources: alike for balanced and proxied services. */
function renderAdmission(records: Records, service: Service, version: Family, identity: Buffer): void {
  records.add(setOf('opened', version), identity)
  if (service.connectionLimit !== null) {
    const mark = pack({ mark: serviceMark(service.id) })
    records.add(setOf('limited', version), identity, mark)
    // The expression is true above its limit, not at it.
    records.add('limits', mark, pack({ mark: service.connectionLimit }))
  }
  if (service.allowedCidrs === null) return
  records.add(setOf('restricted', version), identity)
  for (const cidr of outermost(service.allowedCidrs.map((text) => parseCidr(text)))) {
    if (cidr.version !== version) continue
    const ends = [firstIp(cidr), lastIp(cidr)].map((address) => Buffer.concat([identity, pack({ address })]))
    records.add(setOf('allowed', version), Buffer.concat(ends))
  }
}

/** Prefixes that lie in no other one: the kernel refuses ranges that overlap. */
const outermost = (cidrs: readonly Cidr[]): readonly Cidr[] =>
  cidrs.filter((cidr) => !cidrs.some((other) => other.prefix < cidr.prefix && cidrContains(other, firstIp(cidr))))

/** Names a service in `limits`: over all its VIPs it has one count. Two of a domain meet once in 2^32 pairs; the kernel then refuses the second. */
const serviceMark = (listenerId: string): number => createHash('sha256').update(listenerId).digest().readUInt32BE()

/** Packs the slots of one family; false when no member of that family can serve. */
function renderMembers(
  pool: NodePool,
  version: Family,
  down: ReadonlySet<string>,
  records: Records,
): boolean {
  const set = setOf('member', version)
  const endpoints = pool.members.map((member) => {
    const address = member === null ? null : parseIp(member.address)
    return member === null || address?.version !== version ? null : pack({ address }, { port: member.port })
  })
  const size = recordBytes(SETS[set])
  const mark = poolMark(pool)
  const slots = slotsOfFamily(pool, endpoints, down)
  const bytes = Buffer.allocUnsafe(slots.length * size)
  let at = 0
  for (const [slot, index] of slots.entries()) {
    const endpoint = index === NO_MEMBER ? null : endpoints[index]
    if (endpoint === null || endpoint === undefined) continue
    writeMark(bytes, mark, at)
    writeMark(bytes, slot, at + 4)
    endpoint.copy(bytes, at + 8)
    at += size
  }
  if (at === 0) return false
  records.addLarge(set, bytes.subarray(0, at))
  return true
}

/** Members of the other family cannot be reached from this one: their slots are dealt like those of members that are down. */
function slotsOfFamily(pool: NodePool, endpoints: readonly (Buffer | null)[], down: ReadonlySet<string>): Uint16Array {
  const foreign = pool.members.flatMap((member, index) => (member !== null && endpoints[index] === null ? [member.id] : []))
  if (foreign.length === 0) return effectiveSlots(pool, down)
  // Panic would give the unreachable ones their slots back.
  return effectiveSlots({ ...pool, panicThreshold: 0 }, new Set([...down, ...foreign]))
}

/** Replies of these members that come before any request leave with this VIP as their source. The first VIP of a family wins. */
function renderReverse(
  records: Records,
  pool: NodePool,
  transport: Transport,
  vip: { readonly ip: Ip; readonly port: number },
): void {
  for (const member of pool.members) {
    const address = member === null ? null : parseIp(member.address)
    if (member === null || address === null || address.version !== vip.ip.version) continue
    const identity = pack({ address }, { transport }, { port: member.port })
    records.add(setOf('reverse', vip.ip.version), identity, pack({ address: vip.ip }, { port: vip.port }))
  }
}

const frontOf = (front: FrontDoor | null, version: Family): { address: Ip; port: number } | null => {
  const address = version === 4 ? front?.address4 : front?.address6
  return front === null || !address ? null : { address: parseIp(address), port: front.port }
}

const downMembers = (pool: NodePool, down: ReadonlySet<string>): readonly string[] =>
  pool.members.flatMap((member) => (member !== null && down.has(member.id) ? [member.id] : []))

function digestOf(key: string, records: PackedRecords): bigint {
  const hash = createHash('sha256').update(key)
  for (const [name, bytes] of records.entries()) hash.update(`\n${name}\n`).update(bytes)
  return BigInt(`0x${hash.digest('hex').slice(0, 32)}`)
}
