import { presentDomains } from '@spout/dataplane'
import { type Link, listLinks } from '@spout/sys'
import type { NodePlace } from '../place.ts'

export interface PacketSizes {
  readonly fabric: Pick<Link, 'name' | 'mtu' | 'up'> | null
  /** Both ends of the uplink to each domain, and its tunnels to members behind routers. */
  readonly domains: readonly {
    readonly namespace: string
    readonly rootLink: string
    readonly rootMtu: number
    readonly uplink: string
    readonly uplinkMtu: number
    readonly segmentMtu: number | null
    readonly tunnels: readonly string[]
  }[]
  /** The node's interfaces to physical networks; one that is missing has no MTU. */
  readonly segments: readonly { readonly network: string; readonly link: string; readonly mtu: number | null }[]
  readonly namespace: string | null
}

export async function readPacketSizes({ config }: NodePlace): Promise<PacketSizes> {
  const namespace = config.rootNamespace ?? null
  const links = await listLinks(namespace)
  const named = (name: string) => links.find((link) => link.name === name) ?? null
  const domains = (await presentDomains(config)).map(async (domain) => {
    const inside = await listLinks(domain.namespace).catch(() => [])
    const uplink = inside.find(({ name }) => name === domain.uplink)
    const rootLink = named(domain.rootLink)
    if (uplink === undefined || rootLink === null) return []
    return [
      {
        ...{ namespace: domain.namespace, rootLink: rootLink.name, rootMtu: rootLink.mtu },
        ...{ uplink: uplink.name, uplinkMtu: uplink.mtu },
        segmentMtu: inside.find(({ name }) => name === domain.segment)?.mtu ?? null,
        tunnels: inside.map(({ name }) => name).filter((name) => domain.tunnels.includes(name)),
      },
    ]
  })
  return {
    fabric: named(config.fabricInterface),
    domains: (await Promise.all(domains)).flat(),
    segments: Object.entries(config.segments).map(([network, link]) => ({
      ...{ network, link, mtu: named(link)?.mtu ?? null },
    })),
    namespace,
  }
}
