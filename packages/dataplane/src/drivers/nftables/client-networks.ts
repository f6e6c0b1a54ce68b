import { IPV4_CLIENT_PREFIXES, IPV6_CLIENT_PREFIXES } from '@spout/model/client-prefixes'
import { chain } from '../../nft/whole-table.ts'
import { HASH_SEED, POOL_MASK } from './pool-mark.ts'
import { hex } from './skeleton-text.ts'

/** Above every prefix length, so that a rule which has set the priority is followed by none that matches it. */
const OFFSET = 256

/** The priority would choose the queue that the packet leaves by. */
export const FORGET_NETWORK = 'meta priority set 0:0'

/** `inner`: of the packet that an ICMP error quotes. */
export const networkChainName = (version: 4 | 6, inner = false): string => `${inner ? 'inner-' : ''}network${version}`

const PREFIXES = { 4: IPV4_CLIENT_PREFIXES, 6: IPV6_CLIENT_PREFIXES } as const

/**
 * Sets the packet's priority to the hash of its client's network. A mask is part of a rule (nft 1.0.6 can take none from
 * a map), so there is one rule for each prefix length; a map says which one a pool has. Pools without one for this
 * family have the hash of the whole address.
 * @param inner the expression of the client's address, if it is not the packet's source
 */
export function networkChain(version: 4 | 6, inner?: string): readonly string[] {
  const address = inner ?? `${version === 4 ? 'ip' : 'ip6'} saddr`
  const hashed = (masked: string): string =>
    `meta priority set jhash ${masked} mod ${hex(0xffff_ffff - OFFSET)} seed ${hex(HASH_SEED)} offset ${OFFSET}`
  return chain(networkChainName(version, inner !== undefined), null, [
    FORGET_NETWORK,
    // A lookup that finds nothing ends its rule.
    `meta priority set meta mark & ${hex(POOL_MASK)} map @network${version}`,
    ...PREFIXES[version].map(
      (prefix) => `meta priority 0:${prefix.toString(16)} ${hashed(`${address} & ${MASK[version](prefix)}`)}`,
    ),
    `meta priority 0:0 ${hashed(address)}`,
  ])
}

/** The mask of a prefix length as a number, which fits addresses and raw payload alike; in IPv6 as an address. */
const MASK = {
  4: (prefix: number): string => hex(2 ** 32 - 2 ** (32 - prefix)),
  6: (prefix: number): string => {
    const groups = Array.from({ length: 4 }, (_, at) => {
      const bits = Math.min(16, Math.max(0, prefix - 16 * at))
      return (2 ** 16 - 2 ** (16 - bits)).toString(16)
    })
    return `${groups.join(':')}::`
  },
} as const
