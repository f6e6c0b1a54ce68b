import type { DomainConfig } from './domain-config.ts'
import { domainNames, existingDomains, SEGMENT, TUNNELS, UPLINK } from './domain-names.ts'

/** A domain that exists on this node, and the names of its interfaces. */
export interface PresentDomain {
  readonly namespace: string
  /** Path of the namespace. */
  readonly netns: string
  /** The uplink's end in the root namespace. */
  readonly rootLink: string
  /** The uplink's end in the domain. */
  readonly uplink: string
  readonly segment: string
  /** Names that its tunnels have if there are any. */
  readonly tunnels: readonly string[]
}

/** The domains of this agent that exist, by number. */
export async function presentDomains(config: Pick<DomainConfig, 'instance'>): Promise<readonly PresentDomain[]> {
  const numbers = [...(await existingDomains(config))].sort((a, b) => a - b)
  return numbers.map((number) => {
    const { namespace, netns, rootLink } = domainNames(config, number)
    return { namespace, netns, rootLink, uplink: UPLINK, segment: SEGMENT, tunnels: Object.values(TUNNELS) }
  })
}
