import { DECLARE_GENERATION } from '../../nft/generation.ts'
import { HASH_SEED, type HashClass } from './pool-mark.ts'
import { SETS, type SetName, type SetShape } from './sets.ts'

export const SPOUT_TABLE = 'spout'
/** Exists beside the main table while a network gets its first tracked listener or loses its last one. */
export const REDIRECT_TABLE = 'spout-doors'
/** Exists beside the main table while a network gets its first subnet behind a router. */
export const TUNNEL_TABLE = 'spout-tunnel'
/** Exists beside the main table, with return path `node`. */
export const SPREAD_TABLE = 'spout-spread'

/** The sets of a table, without elements, and the map that names its generation. */
export const declareSets = (names: readonly SetName[]): readonly string[] => [
  DECLARE_GENERATION,
  ...names.flatMap((name) => {
    const { kind, type, typeof: expression, interval, countOver, counter }: SetShape = SETS[name]
    const head = `  ${kind} ${name} {`
    // Each element has a limit of its own. In a dynamic set, which needs no such line, the kernel would remove every
    // element that has counted nothing for a second.
    const statement = counter ? ['    counter'] : countOver ? ['    ct count over 1'] : []
    const typed = expression === undefined ? `    type ${type}` : `    typeof ${expression}`
    return [head, typed, ...(interval ? ['    flags interval'] : []), ...statement, '  }']
  }),
]

export const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`

/** The lookup key of a service. Packets other than TCP, UDP and SCTP match no key. */
export const serviceKey = (version: 4 | 6): string => `${version === 4 ? 'ip' : 'ip6'} daddr . meta l4proto . th dport`

/** What a client of a network class is hashed by, and remembered by: its network's hash (`client-networks.ts`). */
const CLIENT_NETWORK = 'meta priority'

/** The slot of a packet, by its source. Other expressions for the same client give the same slot. */
export function slotOf(version: 4 | 6, { size, over }: HashClass, client = clientOf(version)): string {
  const source = {
    'address-and-port': `${client.address} . ${client.port}`,
    address: client.address,
    network: CLIENT_NETWORK,
  }[over]
  return `jhash ${source} mod ${size} seed ${hex(HASH_SEED)}`
}

const clientOf = (version: 4 | 6) => ({ address: `${version === 4 ? 'ip' : 'ip6'} saddr`, port: 'th sport' })
