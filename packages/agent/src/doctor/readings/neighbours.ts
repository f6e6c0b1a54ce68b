import { rootNetns } from '@spout/dataplane'
import { runIn } from '@spout/sys'
import type { NodePlace } from '../place.ts'

/** The routers of the fabric interface, by the default routes of the node. */
export interface NeighboursReading {
  readonly fabric: string
  readonly routers: readonly { readonly address: string; readonly answers: boolean }[]
}

const PROBE_MS = 500

/** Asks the segment for each router: by broadcast for IPv4, by multicast for IPv6. */
export async function readNeighbours({ config, helper }: NodePlace): Promise<NeighboursReading> {
  const namespace = config.rootNamespace ?? null
  const dev = config.fabricInterface
  const netns = rootNetns(config)
  const routes = async (family: '-4' | '-6') => {
    const argv = ['ip', '-json', family, 'route', 'show', 'default', 'dev', dev] as const
    const shown = await runIn(namespace, argv)
    return (JSON.parse(shown || '[]') as readonly { readonly gateway?: string }[]).flatMap(
      ({ gateway }) => gateway ?? [],
    )
  }
  const addresses = new Set([...(await routes('-4')), ...(await routes('-6'))])
  const asked = Array.from(addresses, async (address) => {
    const { answered } = await helper.arpProbe({ ...(netns && { netns }), dev, address, timeoutMs: PROBE_MS })
    return { address, answers: answered }
  })
  return { fabric: dev, routers: await Promise.all(asked) }
}
