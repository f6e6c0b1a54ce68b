import { chain, type WholeTable, wholeTable } from '../../nft/whole-table.ts'
import { SEGMENT, UPLINK } from '../domain-names.ts'
import type { NetworkShares } from './network-shares.ts'

export const SHARES_TABLE = 'spout-shares'
/** Counts refused packets, in this table and in the guard's. */
export const REFUSED_SET = 'refused'
/** Its keys. */
export const REFUSALS = { packets: 1, bytes: 2, 'new-flows': 3 } as const

/** Burst, as a part of what is allowed per second. */
const BURST = 0.1

/** Length including the network header. */
const SMALL_BYTES = 256

export const DECLARE_REFUSED = `  set ${REFUSED_SET} { type mark; counter; elements = { ${Object.values(REFUSALS).join(', ')} } }`

/** Counts the packet under its key and drops it. The mark is not used after that. */
const refuse = (share: keyof typeof REFUSALS): string =>
  `meta mark set ${REFUSALS[share]} meta mark @${REFUSED_SET} drop`

const over = (perSecond: number, unit: 'packets' | 'bytes'): string => {
  const rate = unit === 'bytes' ? `${perSecond} bytes/second` : `${perSecond}/second`
  return `limit rate over ${rate} burst ${Math.max(1, Math.ceil(perSecond * BURST))} ${unit}`
}

/**
 * Renders table `netdev spout-shares` of a domain. It drops packets over the network's share where they arrive, before
 * connection tracking and every other rule. Clients and members have a share each, since links are full duplex.
 *
 * A limit costs more than all other rules here, so a packet passes as few as possible: a SYN only the limit of
 * connections, and a small packet not the limit of bytes, which the number of packets bounds.
 * @param links indexes of the uplink and the segment, which the chains are attached to
 */
export function renderShares(
  shares: NetworkShares,
  links: { readonly uplink: number; readonly segment: number },
): WholeTable {
  const side = (name: string, device: string): readonly string[] => [
    ...chain(name, `type filter hook ingress device "${device}" priority -500; policy accept;`, [
      `tcp flags & (syn | ack) == syn goto ${name}-begin`,
      `${over(shares.packetsPerSecond, 'packets')} ${refuse('packets')}`,
      `meta length > ${SMALL_BYTES} ${over(shares.bytesPerSecond, 'bytes')} ${refuse('bytes')}`,
    ]),
    ...chain(`${name}-begin`, null, [`${over(shares.newFlowsPerSecond, 'packets')} ${refuse('new-flows')}`]),
  ]
  return wholeTable(
    'netdev',
    SHARES_TABLE,
    [DECLARE_REFUSED, ...side('clients', UPLINK), ...side('members', SEGMENT)],
    `${links.uplink} ${links.segment}`,
  )
}

/**
 * The part of the new connections that may be of UDP and SCTP. Only connection tracking knows which of their packets are
 * the first, so those over the share have cost it, too. A flood of UDP flows multiplied the p99 of a neighbour's HTTP
 * requests by 1.8 to 2.6 with the whole share, by 1.4 to 2.1 with half of it. A quarter and a tenth gained no more
 * (1.2 to 1.4, 1.1 to 1.5): the rest is what any packet costs that the kernel forwards on the same two processors.
 * `SPOUT_BENCH_ATTACKS=million-flows,million-flows-of-a-bystander ./dev bench neighbour`
 */
const TRACKED_FIRST = 0.5

/**
 * For the guard, in a chain that sees the first packet of each tracked flow. TCP SYNs were counted where they arrived.
 */
export const newFlowRule = ({ newFlowsPerSecond }: NetworkShares): string =>
  `meta l4proto != tcp ${over(Math.ceil(newFlowsPerSecond * TRACKED_FIRST), 'packets')} ${refuse('new-flows')}`
