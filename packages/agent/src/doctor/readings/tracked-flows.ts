import { presentDomains, rootNetns } from '@spout/dataplane'
import type { ConntrackCount } from '@spout/sys'
import type { NodePlace } from '../place.ts'

/** The connection table of one namespace. */
export interface TrackedFlows extends ConntrackCount {
  readonly namespace: string
}

/** Of the namespace that faces the fabric and of every domain. One that goes away meanwhile is left out. */
export async function readTrackedFlows({ config, helper }: NodePlace): Promise<readonly TrackedFlows[]> {
  const domains = (await presentDomains(config)).map(({ namespace, netns }) => ({ namespace, netns }))
  const places = [{ namespace: config.rootNamespace ?? 'the node itself', netns: rootNetns(config) }, ...domains]
  const counted = places.map(async ({ namespace, netns }) => {
    const count = await helper.conntrackCount(netns === undefined ? {} : { netns }).catch(() => null)
    return count === null ? [] : [{ namespace, ...count }]
  })
  return (await Promise.all(counted)).flat()
}
