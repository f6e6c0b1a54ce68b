import { readdir } from 'node:fs/promises'
import { formatIp } from '@spout/net'
import { type DomainConfig, NAMESPACES, namespacePath } from './domain-config.ts'

/** Names inside a domain. They are the same in every domain, so that rules can use them. */
export const UPLINK = 'uplink'
export const SEGMENT = 'segment'
/** Interfaces to members behind routers, by family; only if the network has such members. */
export const TUNNELS = { 4: 'tunnel4', 6: 'tunnel6' } as const
/** UDP (RFC 7348 section 5). */
export const TUNNEL_PORT = 4789

/** The tunnel to the other nodes that host members; only with return path `node`. */
export const HOSTS = 'hosts'
/** UDP. Not VXLAN's own port, which the cluster's network may use on the same nodes. Unassigned by IANA. */
export const HOSTS_PORT = 7301

/** IPv6 prefix of the uplinks: a unique local /48. */
export const UPLINK_PREFIX6 = 'fd73:706f:7574::/48'
const UPLINK_BASE6 = 0xfd73_706f_7574n << 80n
/**
 * IPv4 addresses of the uplinks are in 240.0.0.0/4. It is reserved, so no network uses it; the kernel routes it; and it
 * has a pair of addresses for each of 2^24 domain numbers. 169.254.0.0/16 has only 2^15 pairs and contains the metadata
 * service.
 */
const UPLINK_BASE4 = 0xf000_0000n

/** Names and addresses of one domain, derived from its number. */
export interface DomainNames {
  readonly namespace: string
  readonly netns: string
  /** The uplink's end in the root namespace. */
  readonly rootLink: string
  /** Prefixes /31 and /127 of the uplink: the root's end and the domain's end. */
  readonly root: { readonly ipv4: string; readonly ipv6: string }
  readonly domain: { readonly ipv4: string; readonly ipv6: string }
}

export function domainNames(config: Pick<DomainConfig, 'instance'>, number: number): DomainNames {
  const namespace = `${config.instance}-d${number}`
  const pair = BigInt(number) << 1n
  const addresses = (end: bigint) => ({
    ipv4: formatIp({ version: 4, value: UPLINK_BASE4 | pair | end }),
    ipv6: formatIp({ version: 6, value: UPLINK_BASE6 | pair | end }),
  })
  return {
    namespace,
    netns: namespacePath(namespace),
    rootLink: `${config.instance}u${number}`,
    root: addresses(0n),
    domain: addresses(1n),
  }
}

/**
 * Prefix of the names of segments' ends in the root namespace, for segments that are reached through the node's own
 * routes.
 */
export const hostLinkPrefix = ({ instance }: Pick<DomainConfig, 'instance'>): string => `${instance}h`

/** The domain's number if the namespace belongs to this agent, else null. */
function domainNumber(config: Pick<DomainConfig, 'instance'>, namespace: string): number | null {
  const prefix = `${config.instance}-d`
  const digits = namespace.slice(prefix.length)
  return namespace.startsWith(prefix) && /^[1-9][0-9]{0,7}$/.test(digits) ? Number(digits) : null
}

/** Numbers of this agent's domains whose namespaces exist. */
export async function existingDomains(config: Pick<DomainConfig, 'instance'>): Promise<readonly number[]> {
  // The directory does not exist before the first namespace.
  const names = await readdir(NAMESPACES).catch(() => [])
  return names.flatMap((name) => domainNumber(config, name) ?? [])
}
