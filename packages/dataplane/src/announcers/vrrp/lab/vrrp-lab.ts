import type { Announcement } from '../../../announcer.ts'
import type { AnnouncerLab } from '../../../announcer-conformance.ts'
import { Arrangement } from '../../../lab/arrangement.ts'
import { domainEntry } from '../../../lab/entries.ts'
import { pairSettings, VrrpNode } from './vrrp-node.ts'

/** The announcer on node1 of an arrangement, whose peer is not there; hosts look on the fabric and on the tenant's segment. */
export async function vrrpLab(): Promise<AnnouncerLab> {
  const signal = new AbortController().signal
  const red = domainEntry(1)
  const instance = `v${(process.pid % 46_656).toString(36)}`
  const arrangement = await Arrangement.create(`spt${process.pid}v`)
  const node = new VrrpNode(arrangement, 'node1', instance)
  const settings = pairSettings(1)
  const restart = async () => {
    const announcer = await node.startAgent()
    await announcer.configure(settings, signal)
    return announcer
  }
  const end = async () => {
    await node.end([red.number])
    await arrangement[Symbol.asyncDispose]()
  }
  try {
    await restart()
    await node.addDomain(red)
  } catch (error) {
    await end()
    throw error
  }
  const announcement = (scope: Announcement['scope'], address: string, shard: number): Announcement => ({
    scope,
    address,
    domain: 1,
    by: { via: 'vrrp', shard },
  })
  return {
    announcements: [
      announcement('fabric', '10.9.0.200', 1),
      announcement('fabric', 'fd09::200', 2),
      announcement('tenant', '10.0.0.200', 1),
      announcement('tenant', 'fd01::200', 2),
    ],
    // There is no such domain.
    refused: { ...announcement('tenant', '10.0.0.201', 1), domain: 99 },
    restart,
    isFound: async ({ scope, address }) => {
      const host = scope === 'fabric' ? 'client' : 'red9'
      // What it knows of the address from before is no answer.
      await arrangement.run(host, `ip neigh flush to ${address}`)
      return arrangement.run(host, `ping -c 1 -W 0.3 ${address}`).then(
        () => true,
        () => false,
      )
    },
    meddle: async ({ scope, address }) => {
      const bits = address.includes(':') ? 128 : 32
      const inside = scope === 'fabric' ? '' : `nsenter --net=/run/netns/${instance}-d${red.number} `
      const dev = scope === 'fabric' ? 'fab0' : 'segment'
      await arrangement.run('node1', `${inside}ip address delete ${address}/${bits} dev ${dev}`)
    },
    changes: () => node.announcer.counters.changes,
    end,
  }
}
