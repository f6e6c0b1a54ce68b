import type { VrrpSettings } from '@spout/model/node-state'
import { parseIp } from '@spout/net'
import { HelperError, type NativeHelper } from '@spout/sys'
import { type DomainConfig, rootNetns } from '../../domain/domain-config.ts'
import { chain, loadTable, type WholeTable, wholeTable, withoutTable } from '../../nft/whole-table.ts'

/**
 * Filters VRRP to this node's address: only adverts of peers pass, and only from the fabric's own segment (hop limit
 * 255, RFC 5798 section 5.1.1.3). keepalived refuses others too, but 2.2.7 resets its timers for each refused packet,
 * so a stranger's junk could stop a master's adverts or hide them from a backup.
 */
export function renderAdvertFilter(config: DomainConfig, settings: VrrpSettings): WholeTable {
  const groups = [settings, ...settings.shards.flatMap(({ apart }) => apart ?? [])]
  const bySource = new Map(groups.map(({ source }) => [source, new Set<string>()]))
  for (const { source, peers } of groups) for (const peer of peers) bySource.get(source)?.add(peer)
  const families = [...bySource].map(([source, peers]) => {
    const [family, hops] = parseIp(source).version === 4 ? ['ip', 'ip ttl'] : ['ip6', 'ip6 hoplimit']
    const from = `iifname "${config.fabricInterface}" ${family} saddr { ${[...peers].join(', ')} }`
    return {
      jump: `${family} daddr ${source} meta l4proto 112 jump adverts`,
      admit: peers.size === 0 ? [] : [`${from} ${hops} 255 accept`],
    }
  })
  return wholeTable('inet', tableName(config), [
    ...chain(
      'input',
      'type filter hook input priority raw; policy accept;',
      families.map(({ jump }) => jump),
    ),
    ...chain('adverts', null, [...families.flatMap(({ admit }) => admit), 'counter drop']),
  ])
}

/** @returns whether anything was changed */
export const loadAdvertFilter = (
  helper: NativeHelper,
  config: DomainConfig,
  settings: VrrpSettings,
): Promise<boolean> => loadTable(helper, rootNetns(config), renderAdvertFilter(config, settings))

export async function removeAdvertFilter(helper: NativeHelper, config: DomainConfig): Promise<void> {
  try {
    await helper.nftText({ netns: rootNetns(config), text: withoutTable('inet', tableName(config)) })
  } catch (error) {
    // A namespace that does not exist filters nothing.
    if (!(error instanceof HelperError && error.errno === 'ENOENT')) throw error
  }
}

const tableName = ({ instance }: DomainConfig): string => `spout-${instance}-vrrp`
