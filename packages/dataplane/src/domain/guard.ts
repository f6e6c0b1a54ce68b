import { createHash } from 'node:crypto'
import type { DomainEntry, DomainSubnet } from '@spout/model/node-state'
import { parseCidr } from '@spout/net'
import { SEGMENT, UPLINK, UPLINK_PREFIX6 } from './domain-names.ts'

/** The table that keeps a domain closed. Loaded before the domain forwards its first packet, replaced as a whole. */
export const GUARD_TABLE = 'spout-guard'

/** Where no packet of a tenant may go, whatever it claims to answer. */
const FORBIDDEN4 = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4']
const FORBIDDEN6 = ['::/127', 'fe80::/10', 'ff00::/8', 'fd00:ec2::254/128', UPLINK_PREFIX6]

/** nft commands that load the table (replacing an older one in the same transaction), and its mark. */
export interface Guard {
  readonly text: string
  /** The table's comment: equal marks mean equal tables. */
  readonly mark: string
}

/**
 * The guard of a domain: a load balancer's node is no router. Requests to a service may enter the segment, their
 * replies may leave; nothing else crosses. With return path `gateway` a reply may come first (another node carried the
 * flow till now): it may leave only if the driver's reverse map gave it a VIP as its source.
 * @param protectedCidrs prefixes beside the standing ones that are never a destination
 */
export function renderGuard(domain: DomainEntry, protectedCidrs: readonly string[] = []): Guard {
  const body = [
    ...chain('claimed', 'filter', 'prerouting', 'raw', 'accept', claimRules(domain)),
    ...chain('source', 'nat', 'postrouting', 'srcnat + 1', 'accept', sourceRules(domain)),
    ...chain('forward', 'filter', 'forward', 'filter', 'drop', forwardRules(domain, protectedCidrs)),
    ...chain('leaving', 'filter', 'postrouting', '300', 'accept', [
      // Every packet asks: a status costs half of what a name does, and ends the rule for all but a few.
      `ct status & (snat | dnat) == 0 iifname "${SEGMENT}" oifname "${UPLINK}" drop`,
    ]),
    ...chain('input', 'filter', 'input', 'filter', 'drop', INPUT_RULES),
    ...chain('output', 'filter', 'output', 'filter', 'accept', OUTPUT_RULES),
  ]
  const mark = createHash('sha256').update(body.join('\n')).digest('hex').slice(0, 32)
  const table = `inet ${GUARD_TABLE}`
  const lines = [`add table ${table}`, `delete table ${table}`, `table ${table} {`, `  comment "${mark}"`, ...body, '}']
  return { text: `${lines.join('\n')}\n`, mark }
}

/**
 * A member speaks as an address of its own network: as any other it could make a VIP answer to a place that it may not
 * reach itself. Ahead of connection tracking, for both families alike; the kernel's own check (`rp_filter`) knows IPv4
 * alone and costs a route lookup a packet.
 */
function claimRules(domain: DomainEntry): readonly string[] {
  const subnetsOf = (version: 4 | 6): readonly string[] =>
    domain.subnets.map(({ cidr }) => cidr).filter((cidr) => parseCidr(cidr).version === version)
  const ipv4 = subnetsOf(4)
  // Link-local and unspecified addresses: what neighbour discovery speaks as (RFC 4861).
  const ipv6 = [...subnetsOf(6), 'fe80::/10', '::']
  return [
    `iifname != "${SEGMENT}" accept`,
    ...ipv4.map((cidr) => `ip saddr ${cidr} accept`),
    ...ipv6.map((cidr) => `ip6 saddr ${cidr} accept`),
    'drop',
  ]
}

function forwardRules(domain: DomainEntry, protectedCidrs: readonly string[]): readonly string[] {
  const outwards = `iifname "${SEGMENT}" oifname "${UPLINK}"`
  // A rule each: a set refuses prefixes that overlap.
  const protectedRules = protectedCidrs.map((cidr) => {
    return `${outwards} ${parseCidr(cidr).version === 4 ? 'ip' : 'ip6'} daddr ${cidr} drop`
  })
  const replyFirst = [
    `# members never open connections through this node; the rest is judged by chain leaving`,
    `${outwards} tcp flags & (syn | ack) == syn drop`,
    `${outwards} ip daddr { ${FORBIDDEN4.join(', ')} } drop`,
    `${outwards} ip6 daddr { ${FORBIDDEN6.join(', ')} } drop`,
    ...protectedRules,
    `${outwards} meta l4proto { tcp, udp } accept`,
    `iifname "${UPLINK}" oifname "${SEGMENT}" ct status snat ct direction reply accept`,
  ]
  return [
    'ct direction reply ct status dnat accept',
    `ct status dnat oifname "${SEGMENT}" accept`,
    ...(domain.returnPath === 'gateway' ? replyFirst : []),
  ]
}

/** Members see the node's address where replies would not come back through it by themselves. */
function sourceRules(domain: DomainEntry): readonly string[] {
  const of = (version: 4 | 6): readonly DomainSubnet[] =>
    domain.subnets.filter((subnet) => parseCidr(subnet.cidr).version === version)
  return ([4, 6] as const).flatMap((version) => {
    const subnets = of(version)
    const ip = version === 4 ? 'ip' : 'ip6'
    if (subnets.length === 0) return []
    if (domain.returnPath === 'snat') {
      const nodes = subnets.map((subnet) => `${subnet.cidr} : ${subnet.nodeAddress}`).join(', ')
      return [`ct status dnat oifname "${SEGMENT}" snat ${ip} to ${ip} daddr map { ${nodes} }`]
    }
    const hairpin = `ct status dnat iifname "${SEGMENT}" oifname "${SEGMENT}"`
    return subnets.map(
      ({ cidr, nodeAddress }) => `${hairpin} ${ip} saddr ${cidr} ${ip} daddr ${cidr} snat ${ip} to ${nodeAddress}`,
    )
  })
}

/** A VIP is local to the domain: what no rule sent to a member or to the proxy ends here and is refused. */
const INPUT_RULES = [
  'ct state established,related accept',
  'ct status dnat accept',
  'icmp type echo-request accept',
  'icmpv6 type { echo-request, nd-neighbor-solicit, nd-neighbor-advert } accept',
  'meta l4proto tcp reject with tcp reset',
  'meta l4proto udp reject with icmpx port-unreachable',
]

/** The proxy and the probes reach the tenant's segment; towards the fabric they only answer. */
const OUTPUT_RULES = [
  'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
  `oifname "${UPLINK}" ct state new reject with icmpx admin-prohibited`,
]

const chain = (
  name: string,
  type: string,
  hook: string,
  priority: string,
  policy: string,
  rules: readonly string[],
): readonly string[] => [
  `  chain ${name} {`,
  `    type ${type} hook ${hook} priority ${priority}; policy ${policy};`,
  ...rules.map((rule) => `    ${rule}`),
  '  }',
]
