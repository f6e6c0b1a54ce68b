import { type NetworkShares, networkShares } from './shares/network-shares.ts'

/** Settings of a node: its fabric interface and its interfaces to the tenants' segments. */
export interface DomainConfig {
  /**
   * Short id of this agent. It is the prefix of all names that the agent makes, so that two agents on one machine do
   * not collide.
   */
  readonly instance: string
  /** The interface that faces clients. */
  readonly fabricInterface: string
  /** The node's interface for each physical network. */
  readonly segments: Readonly<Record<string, string>>
  /**
   * Physical networks that are reached through the node's own routes, such as the pods of its Kubernetes node. Members
   * there see the node's own address. Default none.
   */
  readonly hostSegments?: readonly string[]
  /** What the node's own settings balance. Default nothing. */
  readonly local?: LocalServices
  /** Name of the network namespace that faces the fabric; null is the agent's own. Default null. */
  readonly rootNamespace?: string | null
  /** Routing table of the root namespace that holds one route per VIP. Default 7100. */
  readonly steeringTable?: number
  /** Prefixes that no packet of a tenant may be sent to (management networks). Default none. */
  readonly protectedCidrs?: readonly string[]
  /** What each tenant network may use of the node. Default by its processors. */
  readonly shares?: NetworkShares
}

/**
 * What the node's own settings balance, in domain `LOCAL_DOMAIN`. Unlike with tenants' networks, the node itself is a
 * client of the addresses, and its own sockets may be members.
 */
export interface LocalServices {
  readonly addresses: readonly string[]
  /** TCP ports of members. */
  readonly memberPorts: readonly number[]
}

export const DEFAULT_STEERING_TABLE = 7100
/** Uplink names are `<instance>u<number>` and the kernel allows 15 characters. */
const INSTANCE = /^[a-z][a-z0-9]{0,5}$/

/** @throws RangeError when the instance cannot be a prefix of interface names */
export function checkDomainConfig(config: DomainConfig): DomainConfig {
  if (!INSTANCE.test(config.instance))
    throw new RangeError(
      `instance ${JSON.stringify(config.instance)} is not a lower-case letter and up to 5 letters or digits`,
    )
  return config
}

/** Where named network namespaces are bound. */
export const NAMESPACES = '/run/netns'
export const namespacePath = (name: string): string => `${NAMESPACES}/${name}`

/** The root namespace as the helper takes it: absent for the helper's own. */
export const rootNetns = (config: DomainConfig): string | undefined =>
  config.rootNamespace ? namespacePath(config.rootNamespace) : undefined

export const sharesOf = (config: Pick<DomainConfig, 'shares'>): NetworkShares => config.shares ?? networkShares()
