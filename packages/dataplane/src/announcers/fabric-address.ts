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
 * The node's own address on its fabric interface, IPv4 before IPv6; null when it has none. VIPs are bound with host
 * prefixes: what has one is none of the node's own.
 */
export class FabricAddress {
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  /** What was found when the kernel's mark was this. */
  #seen: { readonly mark: string; readonly address: string | null } | null = null
  #looks = 0

  constructor({ config, helper }: FabricAddressOptions) {
    this.#config = config
    this.#helper = helper
  }

  /** How often the interface was looked at since start. */
  get counters(): { readonly looks: number } {
    return { looks: this.#looks }
  }

  /** Looks at the interface only when somebody else changed something since. */
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
      // An interface that is gone has no address; whatever else it is says nothing of the address.
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
