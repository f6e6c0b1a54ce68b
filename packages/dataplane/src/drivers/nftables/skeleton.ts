import { createHash } from 'node:crypto'
import { SEGMENT, UPLINK } from '../../domain/domain-names.ts'
import { CLASS_MASK, HASH_CLASSES, HASH_SEED } from './pool-mark.ts'
import { SET_NAMES, SETS } from './sets.ts'

export const SPOUT_TABLE = 'spout'
/** A map of one element that names what was applied last: it changes in the same transaction as everything else. */
export const GENERATION_MAP = 'generation'

/**
 * The table without its elements: the same in every domain, whatever it serves. Nat chains see the first packet of a
 * flow alone; what they do not translate is local to the domain and refused there by its guard.
 */
function body(): readonly string[] {
  return [
    `  map ${GENERATION_MAP} { type mark : ipv6_addr; }`,
    ...SET_NAMES.flatMap((name) => {
      const { kind, type, interval, countOver, counter } = SETS[name]
      const head = `  ${kind} ${name} {`
      // Only a dynamic set may hold elements that count connections.
      const flags = interval ? ['    flags interval'] : countOver ? ['    flags dynamic'] : []
      return [head, `    type ${type}`, ...flags, ...(counter ? ['    counter'] : []), '  }']
    }),
    ...chain('prerouting', 'type nat hook prerouting priority dstnat; policy accept;', [
      ...FROM_OUTSIDE,
      'meta nfproto ipv4 goto requests4',
      'meta nfproto ipv6 goto requests6',
    ]),
    ...requests(4),
    ...requests(6),
    ...chain('postrouting', 'type nat hook postrouting priority srcnat; policy accept;', [
      `iifname "${SEGMENT}" oifname "${UPLINK}" snat ip to ip saddr . meta l4proto . th sport map @reverse4`,
      `iifname "${SEGMENT}" oifname "${UPLINK}" snat ip6 to ip6 saddr . meta l4proto . th sport map @reverse6`,
    ]),
    ...chain('counted', 'type filter hook forward priority filter + 10; policy accept;', counted()),
  ]
}

const FROM_OUTSIDE = [`iifname != { "${UPLINK}", "${SEGMENT}" } accept`, 'meta l4proto != { tcp, udp } accept']
const PORT_KEY = 'meta l4proto . th dport'

/**
 * Packets of balanced flows alone: what goes to or comes from the proxy is not forwarded, and costs nothing here. The
 * flow tells its VIP whatever was translated already; one that began with a reply (its requests went through another
 * node) has it at its other end. nft knows the type of `proto-dst` only behind a match of the protocol.
 */
function counted(): readonly string[] {
  return (['original', 'reply'] as const).flatMap((end) =>
    ([4, 6] as const).flatMap((version) =>
      (['tcp', 'udp'] as const).flatMap((transport) => {
        const flow = `meta nfproto ipv${version} meta l4proto ${transport} ct direction`
        const ip = version === 4 ? 'ip' : 'ip6'
        const service = `ct ${end} ${ip} daddr . meta l4proto . ct ${end} proto-dst`
        const back = end === 'original' ? 'reply' : 'original'
        return [
          `${flow} ${end} ${service} @received${version} accept`,
          `${flow} ${back} ${service} @sent${version} accept`,
        ]
      }),
    ),
  )
}

/** A lookup that misses ends its rule, and the packet goes on to the next one. */
function requests(version: 4 | 6): readonly string[] {
  const ip = version === 4 ? 'ip' : 'ip6'
  const service = `${ip} daddr . ${PORT_KEY}`
  const lines = chain(`requests${version}`, null, [
    `${service} @restricted${version} ${service} . ${ip} saddr != @allowed${version} drop`,
    `meta mark set ${service} map @limited${version} meta mark @limits accept`,
    `${service} @opened${version}`,
    `dnat ${ip} to ${service} map @front${version}`,
    'meta mark set 0',
    `meta mark set ${service} map @service${version}`,
    ...HASH_CLASSES.map(({ bits, size, sourceAffinity }) => {
      const source = sourceAffinity ? `${ip} saddr` : `${ip} saddr . th sport`
      return `meta mark & ${hex(CLASS_MASK)} == ${hex(bits)} ct mark set jhash ${source} mod ${size} seed ${hex(HASH_SEED)}`
    }),
    `meta l4proto { tcp, udp } dnat ${ip} to meta mark . ct mark map @member${version}`,
  ])
  return lines
}

const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`

const chain = (name: string, hook: string | null, rules: readonly string[]): readonly string[] => [
  `  chain ${name} {`,
  ...(hook === null ? [] : [`    ${hook}`]),
  ...rules.map((rule) => `    ${rule}`),
  '  }',
]

/** nft commands that replace the table by an empty one in one transaction, and the mark by which it is known. */
export function renderSkeleton(): { readonly text: string; readonly mark: string } {
  const lines = body()
  const mark = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32)
  const table = `inet ${SPOUT_TABLE}`
  const head = [`add table ${table}`, `delete table ${table}`, `table ${table} {`, `  comment "${mark}"`]
  return { text: `${[...head, ...lines, '}'].join('\n')}\n`, mark }
}
