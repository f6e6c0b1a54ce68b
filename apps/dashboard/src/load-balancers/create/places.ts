import type { AddressPool, Network } from '@spout/model'
import type { Option } from '../../parts/choice.tsx'

/** Where an address can come from: pools that give out addresses, and subnets that nodes can be in. */
export const placesOf = (pools: readonly AddressPool[], networks: readonly Network[]): readonly Option[] => [
  ...pools
    .filter(({ draining }) => !draining)
    .map(({ id, name, cidr }) => ({ value: `pool:${id}`, text: `Public: ${name || id} (${cidr})` })),
  ...networks.flatMap((network) =>
    network.subnets
      .filter(({ reach }) => reach !== 'tunnel')
      .map(({ id, name, cidr }) => ({
        value: `subnet:${network.id}:${id}`,
        text: `Own network: ${network.name || network.id}, ${name === '' ? cidr : `${name} (${cidr})`}`,
      })),
  ),
]
