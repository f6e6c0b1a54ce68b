import type { DomainHosts } from '@spout/model/node-state'
import { isProxied, transportOf } from '@spout/model/protocols'
import { parseIp } from '@spout/net'
import type { WantedEntry } from '../../contracts/driver.ts'
import { hopOf } from '../../domain/member-hosts.ts'
import type { MemberPlaces } from './member-places.ts'
import type { PackedRecords } from './packed-records.ts'
import { PoolRenderer } from './pool-renderer.ts'
import { RecordBuilder, setOf } from './record-builder.ts'
import { pack } from './registers.ts'
import { HOSTS_KEY, type Rendered, type SilentNode, type Spread } from './rendered.ts'

/**
 * Renders where packets of an entry's balanced services go: the nodes of their members. Null if this node has no tunnel
 * or no other node. Sources are admitted where packets are translated: they arrive unchanged.
 */
export function renderSpread(wanted: WantedEntry, places: MemberPlaces): Spread | null {
  const { domain, entry, key } = wanted
  const { hosts } = domain
  if (hosts === undefined || hosts.address === null || hosts.peers.length === 0) return null
  const records = new RecordBuilder()
  const pools = new PoolRenderer(entry.pools, wanted, records)
  // An address inside the network is not reached by the uplink.
  const vips = entry.vips.filter(({ scope }) => scope === 'fabric').map(({ address }) => parseIp(address))
  const silent: SilentNode[] = []
  for (const { protocol, port, pool: number } of entry.services) {
    if (isProxied(protocol)) continue
    const pool = pools.find(number)
    if (pool === null) continue
    for (const ip of vips) {
      const identity = pack({ address: ip }, { transport: transportOf(protocol) }, { port })
      records.add(setOf('service', ip.version), identity, pack({ mark: pool.mark }))
      pool.renderNetwork(ip.version)
      pool.renderSpread(ip.version, places)
      silent.push(...pool.silentNodes(ip.version, places))
    }
  }
  const packed = records.packed()
  if (packed.size === 0) return null
  const { own } = hosts
  return { entry: spreading(key, entry.domain, entry.id, packed), hosts: renderHosts(entry.domain, hosts), own, silent }
}

const RENDERED = new WeakMap<DomainHosts, Rendered>()

function renderHosts(domain: number, hosts: DomainHosts): Rendered {
  const known = RENDERED.get(hosts)
  if (known !== undefined) return known
  const records = new RecordBuilder()
  records.add('here', pack({ mark: hosts.own }))
  for (const { number } of hosts.peers)
    for (const version of [4, 6] as const)
      records.add(setOf('hop', version), pack({ mark: number }), pack({ address: parseIp(hopOf(number, version)) }))
  const rendered = spreading(HOSTS_KEY, domain, '', records.packed())
  RENDERED.set(hosts, rendered)
  return rendered
}

const spreading = (key: string, domain: number, loadBalancerId: string, records: PackedRecords): Rendered => ({
  key,
  loadBalancerId,
  domain,
  table: 'spreading',
  remotes: [],
  services: [],
  records,
  digest: records.digest(key),
  spread: null,
})
