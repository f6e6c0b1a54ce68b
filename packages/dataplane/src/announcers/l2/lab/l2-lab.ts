import type { Announcement } from '../../../announcer.ts'
import type { AnnouncerLab } from '../../../announcer-conformance.ts'
import { Arrangement } from '../../../lab/arrangement.ts'
import { domainEntry } from '../../../lab/entries.ts'
import { LabNode } from '../../../lab/lab-node.ts'

/** The announcer on node1 of an arrangement; the client looks on the fabric, a tenant's host on the tenant's segment. */
export async function l2Lab(): Promise<AnnouncerLab> {
  const signal = new AbortController().signal
  const red = domainEntry(1)
  const instance = `g${(process.pid % 46_656).toString(36)}`
  const arrangement = await Arrangement.create(`spt${process.pid}g`)
  let node: LabNode | null = null
  const restart = async () => {
    await node?.die()
    node = await LabNode.start(arrangement, 'node1', instance)
    return node
  }
  const end = async () => {
    await node?.end([red.number])
    await arrangement[Symbol.asyncDispose]()
  }
  try {
    const { domains } = await restart()
    await domains.adopt([])
    await domains.apply({ put: [red], remove: [] }, signal)
  } catch (error) {
    await end()
    throw error
  }
  const announcement = (scope: Announcement['scope'], address: string): Announcement => ({
    scope,
    address,
    domain: 1,
    by: { via: 'l2' },
  })
  return {
    announcements: [
      announcement('fabric', '10.9.0.200'),
      announcement('fabric', 'fd09::200'),
      announcement('tenant', '10.0.0.200'),
      announcement('tenant', 'fd01::200'),
    ],
    // There is no such domain.
    refused: { ...announcement('tenant', '10.0.0.201'), domain: 99 },
    restart: async () => (await restart()).announcer,
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
    changes: () => node?.announcer.counters.changes ?? 0,
    end,
  }
}
