import type { LoadBalancerEntry } from '@spout/model/node-state'
import type { Log, NativeHelper } from '@spout/sys'
import type { Applied, DataPlaneDriver, ProxyPort, WantedEntry } from '../contracts/driver.ts'
import type { DomainConfig } from '../domain/domain-config.ts'
import { NftablesDriver } from '../drivers/nftables/nftables-driver.ts'
import type { Rendered } from '../drivers/nftables/rendered.ts'
import { MemberFlows } from '../flow-cuts/member-flows.ts'
import { VipSteering } from '../steering/vip-steering.ts'

/** Where the proxy of a listener accepts; null while no proxy carries it. */
export type FindProxyPort = (listenerId: string) => ProxyPort | null

export interface PacketPathOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  readonly leftoversGraceMs?: number
  readonly drainFile?: string
  readonly findProxyPort?: FindProxyPort
}

/** The nftables driver with what an agent has beside it for traffic to flow: steering of VIPs, and flow cuts. */
export class PacketPath implements DataPlaneDriver<Rendered> {
  readonly name = 'packet-path'
  readonly #driver: NftablesDriver
  readonly #parts: readonly [NftablesDriver, VipSteering, MemberFlows]
  readonly #findProxyPort: FindProxyPort

  constructor(options: PacketPathOptions) {
    this.#driver = new NftablesDriver(options)
    this.#parts = [this.#driver, new VipSteering(options), new MemberFlows(options)]
    this.#findProxyPort = options.findProxyPort ?? (() => null)
  }

  get features(): ReadonlySet<string> {
    return this.#driver.features
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    return { transactions: this.#parts.reduce((sum, { counters }) => sum + counters.transactions, 0), reloads: 0 }
  }

  render(wanted: WantedEntry): Rendered {
    return this.#driver.render(this.#withProxyPorts(wanted))
  }

  async adopt(previous: readonly WantedEntry[]): Promise<void> {
    const entries = previous.map((wanted) => this.#withProxyPorts(wanted))
    for (const part of this.#parts) await part.adopt(entries)
  }

  /** What one part refuses is not given to those after it, as the agent does it. */
  async apply(
    changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]> {
    const outcomes = new Map<string, Applied>()
    const isGoing = (key: string) => outcomes.get(key)?.state !== 'failed'
    const entries = changes.put.map((wanted) => this.#withProxyPorts(wanted))
    for (const part of this.#parts) {
      const put = entries.filter(({ key }) => isGoing(key))
      for (const applied of await part.apply({ put, remove: changes.remove.filter(isGoing) }, signal))
        outcomes.set(applied.key, applied)
    }
    return [...outcomes.values()]
  }

  async observe(): Promise<readonly string[]> {
    const lost = await Promise.all(this.#parts.map((part) => part.observe()))
    return [...new Set(lost.flat())]
  }

  stats() {
    return this.#driver.stats()
  }

  async close(): Promise<void> {
    for (const part of this.#parts) await part.close()
  }

  #withProxyPorts(wanted: WantedEntry): WantedEntry {
    return { ...wanted, proxyPorts: this.#proxyPortsOf(wanted.entry) }
  }

  #proxyPortsOf({ services }: LoadBalancerEntry): ReadonlyMap<string, ProxyPort> {
    return new Map(
      services.flatMap(({ id }) => {
        const port = this.#findProxyPort(id)
        return port === null ? [] : [[id, port] as const]
      }),
    )
  }
}
