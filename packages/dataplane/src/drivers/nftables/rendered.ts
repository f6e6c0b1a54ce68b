import type { PackedRecords } from './packed-records.ts'

/** A listener that is balanced here, as its counters and flows are looked up. */
export interface RenderedService {
  readonly listenerId: string
  readonly transport: 'tcp' | 'udp'
  readonly port: number
  /** Members that get no new flows now; told for `udp` alone, whose flows then move at once. */
  readonly down: readonly string[]
}

/** One load balancer as elements of its domain's table. Compact: all that is kept of an entry for later differences. */
export interface Rendered {
  readonly key: string
  readonly loadBalancerId: string
  readonly domain: number
  readonly vips: readonly { readonly address: string; readonly scope: 'fabric' | 'tenant' }[]
  /** In the order of the `opened` records; proxied listeners are not among them. */
  readonly services: readonly RenderedService[]
  readonly records: PackedRecords
  /** 128 bits over key and records: equal digests mean equal elements. */
  readonly digest: bigint
}
