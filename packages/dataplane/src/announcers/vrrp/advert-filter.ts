import type { VrrpSettings } from '@spout/model/node-state'
import { parseIp } from '@spout/net'
import { HelperError, type NativeHelper } from '@spout/sys'
import { type DomainConfig, rootNetns } from '../../domain/domain-config.ts'
import { chain, loadTable, type WholeTable, wholeTable, withoutTable } from '../../nft/whole-table.ts'

/**
 * Lets adverts through that a peer sent over the fabric from next door (RFC 5798 section 5.1.1.3), and no other VRRP to
 * this node's address. keepalived refuses the others too, but 2.2.7 sets its timers anew for each packet that it
 * refuses: a stranger who sends junk at the right moments stops a master's adverts, or hides them from a backup.
 */
export function renderAdvertFilter(config: DomainConfig, settings: VrrpSettings): WholeTable {
  const { source, peers } = settings
  const [family, hops] = parseIp(source).version === 4 ? ['ip', 'ip ttl'] : ['ip6', 'ip6 hoplimit']
  const admit = `iifname "${config.fabricInterface}" ${family} saddr { ${peers.join(', ')} } ${hops} 255 accept`
  return wholeTable('inet', tableName(config), [
    ...chain('input', 'type filter hook input priority raw; policy accept;', [
      `${family} daddr ${source} meta l4proto 112 jump adverts`,
    ]),
    ...chain('adverts', null, [...(peers.length === 0 ? [] : [admit]), 'counter drop']),
  ])
}

/** @returns whether anything had to be changed */
export const loadAdvertFilter = (
  helper: NativeHelper,
  config: DomainConfig,
  settings: VrrpSettings,
): Promise<boolean> => loadTable(helper, rootNetns(config), renderAdvertFilter(config, settings))

export async function removeAdvertFilter(helper: NativeHelper, config: DomainConfig): Promise<void> {
  try {
    await helper.nftText({ netns: rootNetns(config), text: withoutTable('inet', tableName(config)) })
  } catch (error) {
    // A namespace that is gone filters nothing.
    if (!(error instanceof HelperError && error.errno === 'ENOENT')) throw error
  }
}

const tableName = ({ instance }: DomainConfig): string => `spout-${instance}-vrrp`
