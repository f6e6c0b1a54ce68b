import { domainKey, loadBalancerKey } from './entry-keys.ts'

/**
 * Entries of a node's own settings stand beside those of the control plane. Their keys and numbers are none that a
 * control plane gives out, so neither changes what the other wants.
 */

/** Number of their domain. A `Network.number` is smaller. */
export const LOCAL_DOMAIN = 16_000_001
/** The shard of their addresses. A group's shards are 1 to 16. */
export const LOCAL_SHARD = 17
/** The segment of their domain: the node itself. No network can name it. */
export const LOCAL_SEGMENT = 'local/node'

/** How nodes announce their addresses, whatever their group does. */
export const LOCAL_ANNOUNCER = 'vrrp'

const PREFIX = 'local-'
/** The id of a load balancer. The control plane's ids are UUIDs. */
export const localLoadBalancerId = (name: string): string => `${PREFIX}${name}`
/** The name in the settings. @param id as of `localLoadBalancerId` */
export const localNameOf = (id: string): string => id.slice(PREFIX.length)

const LOAD_BALANCERS = loadBalancerKey(PREFIX)
const DOMAIN = domainKey(LOCAL_DOMAIN)
/** Whether an entry is of the node's own settings. The entry `group` is of both. */
export const isLocalKey = (key: string): boolean => key.startsWith(LOAD_BALANCERS) || key === DOMAIN
