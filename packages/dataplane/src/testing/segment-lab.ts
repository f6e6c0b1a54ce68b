import type { Announce } from '@spout/model/node-state'
import type { Announcement } from '../contracts/announcer.ts'
import type { AnnouncerLab } from './announcer-conformance.ts'
import type { Arrangement } from './arrangement.ts'
import { bindAsIpvs } from './ipvs-addresses.ts'

/**
 * The part of an announcer's lab that is the same for all that bind addresses on node1: hosts look for them on the fabric
 * and on the segment of domain 1, and somebody takes them away there.
 * @param ways how the addresses are announced, taking turns
 */
export function segmentLab(
  arrangement: Arrangement,
  ways: readonly [Announce, ...Announce[]],
): Pick<AnnouncerLab, 'announcements' | 'refused' | 'isFound' | 'meddle' | 'bindElsewhere'> {
  const addresses = [
    ['fabric', '10.9.0.200'],
    ['fabric', 'fd09::200'],
    ['tenant', '10.0.0.200'],
    ['tenant', 'fd01::200'],
  ] as const
  return {
    announcements: addresses.map(([scope, address], index): Announcement => {
      return { scope, address, domain: 1, by: ways[index % ways.length] ?? ways[0] }
    }),
    // There is no such domain.
    refused: { scope: 'tenant', address: '10.0.0.201', domain: 99, by: ways[0] },
    isFound: async ({ scope, address }) => {
      const host = scope === 'fabric' ? 'client' : 'red9'
      // What it knows of the address from before is no answer.
      await arrangement.run(host, `ip neigh flush to ${address}`)
      return arrangement.run(host, `ping -c 1 -W 0.3 ${address}`).then(
        () => true,
        () => false,
      )
    },
    bindElsewhere: () => {
      const ofFabric = addresses.filter(([scope]) => scope === 'fabric').map(([, address]) => address)
      return bindAsIpvs(arrangement, 'node1', ofFabric)
    },
    meddle: async ({ scope, address }) => {
      const bits = address.includes(':') ? 128 : 32
      const inside = scope === 'fabric' ? '' : `nsenter --net=/run/netns/${arrangement.instanceOf('node1')}-d1 `
      const dev = scope === 'fabric' ? 'fab0' : 'segment'
      await arrangement.run('node1', `${inside}ip address delete ${address}/${bits} dev ${dev}`)
    },
  }
}
