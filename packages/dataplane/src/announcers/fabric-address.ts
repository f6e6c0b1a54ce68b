import { execOk, findLink, type NativeHelper } from '@spout/sys'
import { type DomainConfig, rootNetns } from '../domain/domain-config.ts'
import { markOf } from './bound-addresses.ts'

interface IpAddressRow {
  readonly addr_info: readonly {
    readonly local: string
    readonly prefixlen: number
    readonly family: 'inet' | 'inet6'
    readonly scope: string
  }[]
}

export interface FabricAddressOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
}

/**
 * The node's own address on its fabric interface, IPv4 before IPv6; null if it has none. Addresses with a host prefix
 * are VIPs.
 */
export class FabricAddress {
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  /** The result when the kernel had this mark. */
  #seen: { readonly mark: string; readonly address: string | null } | null = null
  #looks = 0

  constructor({ config, helper }: FabricAddressOptions) {
    this.#config = config
    this.#helper = helper
  }

  /** Counts reads of the interface since the start. */
  get counters(): { readonly looks: number } {
    return { looks: this.#looks }
  }

  /** Reads the interface only if somebody else changed something since the last read. */
  async read(): Promise<string | null> {
    const mark = await markOf(this.#helper, rootNetns(this.#config))
    if (this.#seen?.mark !== mark) this.#seen = { mark, address: await this.#look() }
    return this.#seen.address
  }

  async #look(): Promise<string | null> {
    this.#looks++
    const { fabricInterface, rootNamespace } = this.#config
    const namespace = rootNamespace ? ['-n', rootNamespace] : []
    try {
      const shown = await execOk(['ip', ...namespace, '-json', 'address', 'show', 'dev', fabricInterface])
      return ownAddress(JSON.parse(shown) as readonly IpAddressRow[])
    } catch (error) {
      // A missing interface has no address. Other errors say nothing about the address.
      if ((await findLink({ netns: rootNamespace || null, name: fabricInterface })) === null) return null
      throw error
    }
  }
}

function ownAddress(rows: readonly IpAddressRow[]): string | null {
  const own = rows.flatMap(({ addr_info }) =>
    addr_info.filter(
      ({ scope, family, prefixlen }) => scope === 'global' && prefixlen < (family === 'inet' ? 32 : 128),
    ),
  )
  return (own.find(({ family }) => family === 'inet') ?? own[0])?.local ?? null
}
