import type { Listener, LoadBalancer, Member, Network, Pool } from '@spout/model'
import { listenerOf, loadBalancerOf, memberOf, metaOf, poolOf } from '@spout/testkit/model'

/** A UUID with this number in it. */
export const id = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`

const meta = (number: number) => metaOf(id(number))

export const network = (number: number, fields: Partial<Network> = {}): Network => ({
  ...meta(number),
  projectId: id(1),
  number,
  subnets: [{ ...meta(number + 1000), cidr: '10.0.0.0/24', gatewayIp: '10.0.0.1', nodeRange: null }],
  returnPath: 'snat',
  routes: [],
  segment: { physicalNetwork: 'physnet1', vlan: null },
  ...fields,
})

export const member = (number: number, fields: Partial<Member> = {}): Member =>
  memberOf(id(number), `10.0.0.${(number % 200) + 10}`, 80, fields)

export const pool = (number: number, members: Member[], fields: Partial<Pool> = {}): Pool =>
  poolOf(id(number), members, fields)

export const listener = (number: number, port: number, fields: Partial<Listener> = {}): Listener =>
  listenerOf(id(number), port, fields)

export const loadBalancer = (number: number, fields: Partial<LoadBalancer> = {}): LoadBalancer =>
  loadBalancerOf(id(number), {
    projectId: id(1),
    networkId: id(2),
    vips: [
      {
        addressId: id(number + 0x100000),
        address: `192.0.2.${(number % 200) + 10}`,
        scope: 'fabric',
        poolId: id(3),
        networkId: null,
        subnetId: null,
      },
    ],
    ...fields,
  })
