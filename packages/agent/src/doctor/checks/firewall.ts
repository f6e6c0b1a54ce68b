import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type FirewallReading, type ForeignChain, type NftStatement, readFirewall } from '../readings/firewall.ts'

const FINDINGS = {
  ForwardingDropped: {
    level: 'error',
    what: 'a firewall of the node drops forwarded packets, and no rule lets those of tenant networks pass',
    why: 'Answers to clients pass the forward hook, from the uplink of a tenant network to the fabric. Docker, for one, drops what it does not know.',
    fix: `\`nft insert rule FAMILY TABLE CHAIN iifname '"INSTANCEu*"' accept\``,
  },
  AdvertsDropped: {
    level: 'error',
    what: 'a firewall of the node drops incoming packets, and no rule lets VRRP pass',
    why: 'The node does not hear the master of a shard and becomes one itself: two nodes announce the same addresses.',
    fix: '`nft insert rule FAMILY TABLE CHAIN meta l4proto 112 accept`',
  },
} as const satisfies Catalogue

/**
 * A chain that drops by its policy is right if a rule, of it or of a chain that it leads to, may accept the packets. What
 * a rule asks about addresses is not judged.
 */
export const judgeFirewall = (reading: FirewallReading): readonly Found<keyof typeof FINDINGS>[] =>
  reading.chains
    .filter(({ policy }) => policy === 'drop')
    .flatMap((chain) => {
      const uplinks = `${reading.instance}u*`
      const [code, packet, rule] =
        chain.hook === 'forward'
          ? (['ForwardingDropped', { from: uplinks, to: reading.fabric }, `iifname '"${uplinks}"' accept`] as const)
          : (['AdvertsDropped', { from: reading.fabric, protocol: VRRP }, 'meta l4proto 112 accept'] as const)
      if (code === 'AdvertsDropped' && !reading.speaksVrrp) return []
      return chain.rules.some((statements) => mayAccept(statements, packet)) ? [] : [found(code, chain, reading, rule)]
    })

interface Packet {
  readonly from: string
  readonly to?: string
  /** Its protocol, which nft shows by name where the system knows that; absent for any that is forwarded. */
  readonly protocol?: { readonly name: string; readonly number: number }
}

const VRRP = { name: 'vrrp', number: 112 } as const

/** Whether a rule accepts, and none of its matches excludes the packet. */
const mayAccept = (statements: readonly NftStatement[], packet: Packet): boolean =>
  statements.some((one) => 'accept' in one) && statements.every(({ match }) => !match || !excludes(match, packet))

function excludes({ op, left, right }: NonNullable<NftStatement['match']>, packet: Packet): boolean {
  const { meta, payload, ct } = left as {
    readonly meta?: { readonly key: string }
    readonly payload?: { readonly protocol?: string; readonly field?: string }
    readonly ct?: { readonly key: string }
  }
  const values = valuesOf(right)
  const differs = (wanted: (value: string | number) => boolean) => values.some(wanted) === (op === '!=')
  if (meta?.key === 'iifname' || meta?.key === 'iif') return differs((value) => covers(value, packet.from))
  if (meta?.key === 'oifname' || meta?.key === 'oif')
    return packet.to !== undefined && differs((value) => covers(value, packet.to ?? ''))
  const isProtocol = meta?.key === 'l4proto' || payload?.field === 'protocol' || payload?.field === 'nexthdr'
  const { protocol } = packet
  if (isProtocol)
    return protocol !== undefined && differs((value) => value === protocol.name || value === protocol.number)
  // An answer is no reply of a flow that this namespace tracks, since the request did not pass the hook.
  if (ct?.key === 'state') return differs((value) => value === 'new')
  // Ports and the like of another protocol.
  return protocol !== undefined && TRANSPORTS.has(payload?.protocol ?? '')
}

const TRANSPORTS: ReadonlySet<string> = new Set(['tcp', 'udp', 'sctp', 'icmp', 'icmpv6', 'th'])

/** The values of a match: one, a list, or an anonymous set. */
function valuesOf(right: unknown): readonly (string | number)[] {
  if (typeof right === 'string' || typeof right === 'number') return [right]
  const list = Array.isArray(right) ? right : (right as { readonly set?: unknown } | null)?.set
  return Array.isArray(list) ? list.flatMap(valuesOf) : []
}

/** Whether the name of a link in a rule stands for all links of this name; `*` at the end stands for any text. */
const covers = (rule: string | number, link: string): boolean => {
  const text = String(rule)
  return text === link || (text.endsWith('*') && link.startsWith(text.slice(0, -1)))
}

function found<Code extends keyof typeof FINDINGS>(
  code: Code,
  { family, table, chain, hook }: ForeignChain,
  { namespace }: FirewallReading,
  rule: string,
): Found<Code> {
  const prefix = namespace === null ? '' : `ip netns exec ${namespace} `
  return {
    code,
    subject: `${family} ${table} ${chain}`,
    message: `It drops ${hook === 'forward' ? 'forwarded' : 'incoming'} packets by its policy.`,
    fix: `${prefix}nft insert rule ${family} ${table} ${chain} ${rule}`,
  }
}

export const firewall = checkOf({
  name: 'firewall',
  catalogue: FINDINGS,
  read: readFirewall,
  judge: judgeFirewall,
  right: ({ chains }) => `None of ${chains.length} chains of others drops what the node needs.`,
})
