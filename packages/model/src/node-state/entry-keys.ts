/** Key of the group entry of a node. */
export const GROUP_KEY = 'group'

const LOAD_BALANCER = 'lb/'
const DOMAIN = 'domain/'

/** Key of a load balancer's entry on every node that carries it. */
export const loadBalancerKey = (id: string): string => `${LOAD_BALANCER}${id}`
export const isLoadBalancerKey = (key: string): boolean => key.startsWith(LOAD_BALANCER)
/** The load balancer's id; null for keys of other entries. */
export const loadBalancerOfKey = (key: string): string | null =>
  isLoadBalancerKey(key) ? key.slice(LOAD_BALANCER.length) : null

/** Key of a domain's entry. @param number `Network.number` */
export const domainKey = (number: number): string => `${DOMAIN}${number}`
/** The domain's number; null for other keys. */
export const domainOfKey = (key: string): number | null =>
  /^domain\/\d{1,8}$/.test(key) ? Number(key.slice(DOMAIN.length)) : null
