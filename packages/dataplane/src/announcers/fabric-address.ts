import { execOk } from '@spout/sys'
import type { DomainConfig } from '../domain/domain-config.ts'

interface IpAddressRow {
  readonly addr_info: readonly {
    readonly local: string
    readonly prefixlen: number
    readonly family: 'inet' | 'inet6'
    readonly scope: string
  }[]
}

/**
 * The node's own address on its fabric interface, IPv4 before IPv6; null when it has none. VIPs are bound with host
 * prefixes: what has one is none of the node's own.
 */
export async function fabricAddress(
  config: Pick<DomainConfig, 'fabricInterface' | 'rootNamespace'>,
): Promise<string | null> {
  const namespace = config.rootNamespace ? ['-n', config.rootNamespace] : []
  const shown = await execOk(['ip', ...namespace, '-json', 'address', 'show', 'dev', config.fabricInterface])
  return ownAddress(JSON.parse(shown) as readonly IpAddressRow[])
}

export function ownAddress(rows: readonly IpAddressRow[]): string | null {
  const own = rows.flatMap(({ addr_info }) =>
    addr_info.filter(
      ({ scope, family, prefixlen }) => scope === 'global' && prefixlen < (family === 'inet' ? 32 : 128),
    ),
  )
  return (own.find(({ family }) => family === 'inet') ?? own[0])?.local ?? null
}
