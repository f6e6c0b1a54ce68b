import type { LoadBalancerEntry } from '@spout/model/node-state'
import type { Log, NativeHelper } from '@spout/sys'
import type { Applied, DataPlaneDriver, FrontDoor, WantedEntry } from '../contracts/driver.ts'
import type { DomainConfig } from '../domain/domain-config.ts'
import { NftablesDriver } from '../drivers/nftables/nftables-driver.ts'
import type { Rendered } from '../drivers/nftables/rendered.ts'
import { MemberFlows } from '../flow-cuts/member-flows.ts'
import { VipSteering } from '../steering/vip-steering.ts'

/** Where the proxy of a listener accepts; null while no proxy carries it. */
export type FindFrontDoor = (listenerId: string) => FrontDoor | null

export interface PacketPathOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  readonly leftoversGraceMs?: number
  readonly drainFile?: string
  readonly findFrontDoor?: FindFrontDoor
}

/** The nftables driver with what an agent has beside it for traffic to flow: steering of VIPs, and flow cuts. */
export class PacketPath implements DataPlaneDriver<Rendered> {
  readonly name = 'packet-path'
  readonly #driver: NftablesDriver
  readonly #parts: readonly [NftablesDriver, VipSteering, MemberFlows]
  readonly #findFrontDoor: FindFrontDoor

  constructor(options: PacketPathOptions) {
    this.#driver = new NftablesDriver(options)
    this.#parts = [this.#driver, new VipSteering(options), new MemberFlows(options)]
    this.#findFrontDoor = options.findFrontDoor ?? (() => null)
  }

  get features(): ReadonlySet<string> {
    return this.#driver.features
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    return { transactions: this.#parts.reduce((sum, { counters }) => sum + counters.transactions, 0), reloads: 0 }
  }

  render(wanted: WantedEntry): Rendered {
    return this.#driver.render(this.#withDoors(wanted))
  }

  async adopt(previous: readonly WantedEntry[]): Promise<void> {
    const entries = previous.map((wanted) => this.#withDoors(wanted))
    for (const part of this.#parts) await part.adopt(entries)
  }

  /** What one part refuses is not given to those after it, as the agent does it. */
  async apply(
    changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]> {
    const outcomes = new Map<string, Applied>()
    const isGoing = (key: string) => outcomes.get(key)?.state !== 'failed'
    const entries = changes.put.map((wanted) => this.#withDoors(wanted))
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

  #withDoors(wanted: WantedEntry): WantedEntry {
    return { ...wanted, doors: this.#doorsOf(wanted.entry) }
  }

  #doorsOf({ services }: LoadBalancerEntry): ReadonlyMap<string, FrontDoor> {
    return new Map(
      services.flatMap(({ id }) => {
        const door = this.#findFrontDoor(id)
        return door === null ? [] : [[id, door] as const]
      }),
    )
  }
}
