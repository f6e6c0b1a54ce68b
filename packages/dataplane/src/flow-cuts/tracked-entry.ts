import type { NodeVip } from '@spout/model/node-state'
import { isProxied, type Transport, transportOf } from '@spout/model/protocols'
import type { WantedEntry } from '../contracts/driver.ts'
import type { PoolHealth } from './member-fates.ts'

/** A listener whose connections are balanced in the packet path. */
export interface TrackedService {
  readonly listenerId: string
  readonly transport: Transport
  readonly port: number
  /** Whom its flows are with; null where nothing is tracked, and without a pool. */
  readonly members: PoolHealth | null
}

/** What the kernel tracks flows of, of one load balancer. */
export interface TrackedEntry {
  readonly key: string
  readonly domain: number
  readonly vips: readonly Pick<NodeVip, 'address'>[]
  readonly services: readonly TrackedService[]
}

/** Proxied listeners are left out: their flows end in the proxy, which ends them itself. */
export function trackedEntry({ key, domain, entry, down }: WantedEntry): TrackedEntry {
  // What is forwarded is not tracked: each packet goes by what holds now.
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
