import type { Transport } from '@spout/model/protocols'
import type { PackedRecords } from './packed-records.ts'

/** A listener that is balanced here, as its counters are looked up. */
export interface RenderedService {
  readonly listenerId: string
  readonly transport: Transport
  readonly port: number
}

/**
 * `translating` is the table of return paths `gateway` and `snat`, `proxying` the one in its place where nothing is
 * tracked; `forwarding` that of `dsr`, which leaves packets as they are; `tunnelling` the same in networks with members
 * behind routers.
 */
export type TableKind = 'translating' | 'proxying' | 'forwarding' | 'tunnelling'

/** One load balancer as elements of its domain's table. Compact: all that is kept of an entry for later differences. */
export interface Rendered {
  readonly key: string
  readonly loadBalancerId: string
  readonly domain: number
  /** Which of its domain's tables it is in. */
  readonly table: TableKind
  /** In the order of the `opened` records; proxied listeners are not among them. */
  readonly services: readonly RenderedService[]
  /** Addresses of members that are reached through a tunnel. */
  readonly remotes: readonly string[]
  readonly records: PackedRecords
  /** 128 bits over key and records: equal digests mean equal elements. */
  readonly digest: bigint
}
