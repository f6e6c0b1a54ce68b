import { chain, type WholeTable, wholeTable } from '../nft/whole-table.ts'
import { HOSTS, UPLINK } from './domain-names.ts'
import { onceLedHopOf } from './member-hosts.ts'

/** The table in a domain, one for each family, since family inet has no statement `dup`. */
export const FORMER_TABLE = 'spout-former'

/**
 * Renders the tables that give connections a second chance at the node which their slot led to before: the packet's
 * priority has its number, set where the packet entered (`spreading-skeleton.ts`). A packet of a connection that this
 * node tracks stays. Any other goes to that node unchanged, in a frame by which it knows that this is the last hop. If
 * that node is no longer there, the packet stays, and is refused.
 *
 * A first packet never has such a number. Nothing is remembered of a connection: each of its packets is decided alone.
 * @param others numbers of the other nodes; none: no tables
 * @param tunnel index of the tunnel's interface
 */
export function renderFormerTables(others: readonly number[], tunnel: number): readonly WholeTable[] {
  if (others.length === 0) return []
  return ([4, 6] as const).map((version) => {
    const hops = others.map((number) => `${priorityOf(number)} : ${onceLedHopOf(number, version)}`)
    const body = [
      ...chain('arriving', 'type filter hook prerouting priority mangle; policy accept;', [
        'meta priority 0:0 accept',
        `iifname { "${UPLINK}", "${HOSTS}" } meta l4proto tcp goto unknown`,
      ]),
      ...chain('unknown', null, [
        'ct status confirmed meta priority set 0:0 accept',
        `dup to meta priority map { ${hops.join(', ')} } device "${HOSTS}" drop`,
        'meta priority set 0:0',
      ]),
    ]
    return wholeTable(version === 4 ? 'ip' : 'ip6', FORMER_TABLE, body, tunnel)
  })
}

/** As nft writes a priority: two halves of 16 bits. */
const priorityOf = (number: number): string => `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`
