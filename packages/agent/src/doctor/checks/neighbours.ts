import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type NeighboursReading, readNeighbours } from '../readings/neighbours.ts'

const FINDINGS = {
  RouterSilent: {
    level: 'error',
    what: 'the default router on the fabric answers no ARP request',
    why: 'No client behind it is reached. The cable, the port or the VLAN is wrong, or the router is away.',
    fix: '`arping -I INTERFACE ROUTER`, and the port of the switch',
  },
  MulticastFiltered: {
    level: 'error',
    what: 'the default router on the fabric answers no neighbour solicitation, which is multicast',
    why: 'IPv6 does without broadcast. A switch that snoops MLD without a querier drops it: neighbours lose the IPv6 VIPs of this node as well.',
    fix: 'on the switch: an MLD querier, or snooping off: `ip link set dev BRIDGE type bridge mcast_snooping 0`',
  },
} as const satisfies Catalogue

export const judgeNeighbours = ({ routers, fabric }: NeighboursReading): readonly Found<keyof typeof FINDINGS>[] =>
  routers
    .filter(({ answers }) => !answers)
    .map(({ address }) =>
      address.includes(':')
        ? {
            ...{ code: 'MulticastFiltered', subject: address },
            message: `It answers no neighbour solicitation on ${fabric}.`,
            fix: 'on the switch: an MLD querier, or ip link set dev BRIDGE type bridge mcast_snooping 0',
          }
        : {
            ...{ code: 'RouterSilent', subject: address, message: `It answers no ARP request on ${fabric}.` },
            fix: `arping -c 3 -I ${fabric} ${address}; look at the port of the switch`,
          },
    )

export const neighbours = checkOf({
  name: 'routers',
  catalogue: FINDINGS,
  read: readNeighbours,
  judge: judgeNeighbours,
  right: ({ routers }) =>
    routers.length === 0
      ? 'The node has no default route through the fabric.'
      : `${routers.map(({ address }) => address).join(', ')} answer on the fabric.`,
})
