import { chain } from '../../nft/whole-table.ts'
import { FORGET_NETWORK } from './client-networks.ts'
import { CLASS_MASK, HASH_CLASSES, HASH_SEED, NETWORK_MASK, POOL_MASK } from './pool-mark.ts'
import { hex, slotOf } from './skeleton-text.ts'

/**
 * For how long clients can be remembered, in seconds. The time-out is part of a rule, so there is one rule for each, and
 * what a pool asks for is rounded up to the next.
 */
export const KEEP_SECONDS = [
  1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200,
  10_800, 14_400, 21_600, 28_800, 43_200, 57_600, 86_400,
] as const

/**
 * How many clients a domain remembers, of each address family and over all pools. When it is full, further clients are
 * balanced by the hash alone, so that a flood of sources costs the node no more than this, and no client its connection.
 */
export const MOST_KEPT_CLIENTS = 32_768

const MEMBER = 0x8000_0000
const TIME_SHIFT = 16
const TIME_MASK = (KEEP_SECONDS.length - 1) << TIME_SHIFT
/** Set by a lookup that found a member that serves; not part of what is remembered. */
const SERVES = 0x4000_0000
/** Of a client that is not remembered: neither a slot nor a `keptMember`. */
const NOBODY = MEMBER + 2 * (TIME_MASK + (1 << TIME_SHIFT))

/**
 * What is remembered of a client: its member, by the index in the pool, and the time-out. So a pool with another
 * time-out begins anew. Never equal to a slot.
 */
export const keptMember = (index: number, seconds: number): number => {
  const longest = KEEP_SECONDS.length - 1
  const next = KEEP_SECONDS.findIndex((each) => each >= seconds)
  return MEMBER + ((next === -1 ? longest : next) << TIME_SHIFT) + index
}

/** The value of a `keptMember` in map `dealt`. */
export const servingMember = (kept: number): number => kept + SERVES

/** A client of a pool: what tells it apart is in the packet's priority. */
const CLIENT = 'meta mark . meta priority'

/**
 * What tells clients apart by their whole address. nft 1.0.6 would load the value of a key of more than 16 bytes over
 * that key, so IPv6 addresses are hashed. Two clients with the same hash share what is remembered.
 */
const ADDRESS = {
  4: '@nh,96,32',
  6: `jhash ip6 saddr mod ${0xffff_ffff} seed ${hex(HASH_SEED)}`,
} as const

/** Declares what clients are remembered in: pool mark . client -> `keptMember`. Filled and emptied by packets alone. */
export const declareKept = (): readonly string[] =>
  ([4, 6] as const).flatMap((version) => [
    `  map kept${version} {`,
    `    typeof ${CLIENT} : ct mark`,
    `    size ${MOST_KEPT_CLIENTS}`,
    '    flags dynamic,timeout',
    '  }',
  ])

/** The chain that new flows of such services go to, with the service's mark. */
export const keptChain = (version: 4 | 6): string => `kept-by${version}`

/**
 * Leads a client to the member that is remembered, if it serves, and to that of its slot otherwise. Either way the
 * time-out begins anew. A node that remembers nothing, because it took over or its table was loaded anew, decides by the
 * slot, as the other did at first: a client changes only if the slots have changed since.
 */
export function keptChains(version: 4 | 6): readonly string[] {
  const ip = version === 4 ? 'ip' : 'ip6'
  // A lookup that finds nothing ends its rule and leaves the mark.
  const serving = `ct mark set meta mark . ct mark map @dealt${version}`
  const goOn = `ct mark & ${hex(SERVES)} != 0 goto held${version}`
  return [
    ...chain(keptChain(version), null, [
      `meta mark & ${hex(NETWORK_MASK)} == 0 meta priority set ${ADDRESS[version]}`,
      `meta mark set meta mark & ${hex(POOL_MASK)}`,
      `ct mark set ${hex(NOBODY)}`,
      `ct mark set ${CLIENT} map @kept${version}`,
      serving,
      goOn,
      // An update keeps the value of what exists.
      `ct mark != ${hex(NOBODY)} delete @kept${version} { ${CLIENT} : ct mark }`,
      ...HASH_CLASSES.filter(({ over }) => over !== 'address-and-port').map(
        (each) => `meta mark & ${hex(CLASS_MASK)} == ${hex(each.bits)} ct mark set ${slotOf(version, each)}`,
      ),
      serving,
      goOn,
    ]),
    ...chain(`held${version}`, null, [
      `ct mark set ct mark & ${hex(0xffff_ffff - SERVES)}`,
      ...KEEP_SECONDS.map(
        (seconds, at) =>
          `ct mark & ${hex(TIME_MASK)} == ${hex(at << TIME_SHIFT)} update @kept${version} { ${CLIENT} timeout ${seconds}s : ct mark }`,
      ),
      `${FORGET_NETWORK} meta l4proto { tcp, udp, sctp } dnat ${ip} to meta mark . ct mark map @member${version}`,
    ]),
  ]
}
