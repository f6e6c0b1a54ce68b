import type { NodeVip } from '@spout/model/node-state'
import { isProxied, type Transport, transportOf } from '@spout/model/protocols'
import type { PoolHealth } from '@spout/plan/member-fates'
import type { WantedEntry } from '../contracts/driver.ts'

/** A listener whose connections are balanced in the packet path. */
export interface TrackedService {
  readonly listenerId: string
  readonly transport: Transport
  readonly port: number
  /** The members of its flows; null if nothing is tracked, or without a pool. */
  readonly members: PoolHealth | null
}

/** The tracked services of one load balancer. */
export interface TrackedEntry {
  readonly key: string
  readonly domain: number
  readonly vips: readonly Pick<NodeVip, 'address'>[]
  readonly services: readonly TrackedService[]
}

/** Leaves out proxied listeners: their flows end in the proxy, which ends them itself. */
export function trackedEntry({ key, domain, entry, down }: WantedEntry): TrackedEntry {
  // Forwarded packets are not tracked; each follows the current members.
  const pools = new Map(domain.returnPath === 'dsr' ? [] : entry.pools.map((pool) => [pool.number, pool]))
  const services = entry.services.flatMap(({ id, protocol, port, pool: number }): readonly TrackedService[] => {
    if (isProxied(protocol)) return []
    const pool = number === null ? undefined : pools.get(number)
    return [
      { listenerId: id, transport: transportOf(protocol), port, members: pool === undefined ? null : { pool, down } },
    ]
  })
  return { key, domain: entry.domain, vips: entry.vips, services }
}
