import { createHash } from 'node:crypto'
import type { VrrpSettings } from '@spout/model/node-state'
import { parseIp } from '@spout/net'
import { HelperError, type NativeHelper } from '@spout/sys'
import { type DomainConfig, rootNetns } from '../../domain/domain-config.ts'

export interface AdvertFilter {
  readonly table: string
  /** The table's comment: equal marks mean equal tables. */
  readonly mark: string
  /** nft commands that load it, replacing an older one in the same transaction. */
  readonly text: string
}

/**
 * Lets adverts through that a peer sent over the fabric from next door (RFC 5798 section 5.1.1.3), and no other VRRP to
 * this node's address. keepalived refuses the others too, but 2.2.7 sets its timers anew for each packet that it
 * refuses: a stranger who sends junk at the right moments stops a master's adverts, or hides them from a backup.
 */
export function renderAdvertFilter(config: DomainConfig, settings: VrrpSettings): AdvertFilter {
  const { source, peers } = settings
  const [family, hops] = parseIp(source).version === 4 ? ['ip', 'ip ttl'] : ['ip6', 'ip6 hoplimit']
  const admit = `iifname "${config.fabricInterface}" ${family} saddr { ${peers.join(', ')} } ${hops} 255 accept`
  const body = [
    '  chain input {',
    '    type filter hook input priority raw; policy accept;',
    `    ${family} daddr ${source} meta l4proto 112 jump adverts`,
    '  }',
    '  chain adverts {',
    ...(peers.length === 0 ? [] : [`    ${admit}`]),
    '    counter drop',
    '  }',
  ]
  const table = tableName(config)
  const mark = createHash('sha256').update(body.join('\n')).digest('hex').slice(0, 32)
  const head = [`add table inet ${table}`, `delete table inet ${table}`, `table inet ${table} {`, `  comment "${mark}"`]
  return { table, mark, text: `${[...head, ...body, '}'].join('\n')}\n` }
}

/** @returns whether anything had to be changed */
export async function loadAdvertFilter(
  helper: NativeHelper,
  config: DomainConfig,
  settings: VrrpSettings,
): Promise<boolean> {
  const { table, mark, text } = renderAdvertFilter(config, settings)
  const netns = rootNetns(config)
  const loaded = await helper.nftGeneration({ netns, family: 'inet', table })
  if (loaded.comment === mark) return false
  await helper.nftText({ netns, text })
  return true
}

export async function removeAdvertFilter(helper: NativeHelper, config: DomainConfig): Promise<void> {
  const table = tableName(config)
  const netns = rootNetns(config)
  try {
    await helper.nftText({ netns, text: `add table inet ${table}\ndelete table inet ${table}\n` })
  } catch (error) {
    // A namespace that is gone filters nothing.
    if (!(error instanceof HelperError && error.errno === 'ENOENT')) throw error
  }
}

const tableName = ({ instance }: DomainConfig): string => `spout-${instance}-vrrp`
