import { customResourceDefinitions } from '@spout/custom-resources'
import { bgpPeer } from '@spout/model'
import { KubernetesApiError, LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConfigBed, openConfigBed } from './testing/config-bed.fixture.ts'

let bed: ConfigBed
beforeAll(async () => {
  bed = await openConfigBed()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

let number = 0
/** The API server's answer to a spec: null when it accepts it, otherwise the refusal. */
const refusal = async (kind: string, spec: object): Promise<string | null> => {
  const name = `a${number++}`
  try {
    await bed.create(kind, name, spec)
    return null
  } catch (error) {
    if (error instanceof KubernetesApiError && error.status === 422) return error.message
    throw error
  }
}
const pool = (addresses: object[], more: object = {}) => ({ subnet: '192.0.2.0/24', addresses, ...more })
const six = (first: string, last: string) => ({ subnet: '2001:db8::/32', addresses: [{ first, last }] })
const peer = (more: object) => ({ peerAddress: '192.0.2.1', peerASN: 64_512, ...more })

describe('the definitions', () => {
  test('are structural, and nothing in them is refused or pruned', async () => {
    const { items } = await bed.api.list<{
      metadata: { name: string; uid: string }
      status: { conditions: { type: string; status: string; message: string }[] }
    }>('/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
    const names = customResourceDefinitions().map(({ metadata }) => metadata.name)
    // Other tests on this cluster have definitions of their own.
    const ours = items.filter(({ metadata }) => names.includes(metadata.name))
    expect(ours.map(({ metadata }) => metadata.name).sort()).toEqual(names.sort())
    for (const { status } of ours)
      expect(status.conditions.filter(({ type }) => type === 'NonStructuralSchema')).toEqual([])
  })

  test.each([
    ['AddressPool', pool([{ cidr: '192.0.2.128/25' }, { first: '192.0.2.9', last: '192.0.2.10' }])],
    ['AddressPool', pool([{ first: '192.0.2.9', last: '192.0.2.9' }], { gateway: '192.0.2.1', projects: ['a'] })],
    ['AddressPool', six('2001:db8::1', '2001:db8:0:0::ffff')],
    ['AddressPool', six('2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff')],
    ['AddressPool', six('2001:db8::a', '2001:DB8::000A')],
    ['NodeGroup', {}],
    ['NodeGroup', { announcer: 'bgp', bgp: { localASN: 64_512 } }],
    ['NodeGroup', { vrrp: { shards: 2, routerIds: [7, 8] } }],
    ['NodeGroup', { fabric: { interface: 'bond0.100' } }],
    ['NodeGroup', { fabric: { reaches: '2001:db8::1' } }],
    ['NodeGroup', { nodeSelector: { matchLabels: { 'example.org/pool': 'edge' } } }],
    ['NodeGroup', { nodeSelector: { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['core'] }] } }],
    ['NodeGroup', { nodeSelector: { matchExpressions: [{ key: 'zone', operator: 'Exists' }] } }],
    ['BgpPeer', peer({ bfd: { profile: 'fast' }, holdTimeSeconds: 90, keepaliveTimeSeconds: 30 })],
    ['BgpPeer', { unnumbered: true, template: 'fabric' }],
    ['BgpPeer', peer({ bfd: { minTransmitMs: 50, minReceiveMs: 50, multiplier: 3 } })],
    ['BgpAdvertisement', { communities: ['64512:1', '64512:1:2'], localPref: 100, aggregationLength: 24 }],
    ['TenantQuota', { project: 'tenant', limits: { loadBalancers: 0 } }],
    ['TenantQuota', { project: 'tenant', classes: { gold: 0, 'of any name': 7 } }],
  ])('take %s %j', async (kind, spec) => {
    expect(await refusal(kind, spec)).toBeNull()
  })

  test.each([
    ['AddressPool', { ...pool([{ cidr: '192.0.2.128/25' }]), subnet: '192.0.2/24' }, 'spec.subnet'],
    ['AddressPool', { ...pool([{ cidr: '192.0.2.128/25' }]), subnet: '192.0.2.7/24' }, 'host bits 0'],
    ['AddressPool', pool([{ cidr: '192.0.2.300/25' }]), 'spec.addresses[0].cidr'],
    ['AddressPool', pool([{ cidr: '010.0.0.0/8' }]), 'spec.addresses[0].cidr'],
    ['AddressPool', pool([{ cidr: '198.51.100.0/25' }]), 'an entry is outside of subnet'],
    ['AddressPool', pool([{ first: '192.0.2.9', last: '192.0.3.1' }]), 'an entry is outside of subnet'],
    ['AddressPool', pool([{ first: '192.0.2.10', last: '192.0.2.9' }]), 'spec.addresses[0].last'],
    ['AddressPool', pool([{ first: '192.0.2.128', last: '192.0.2.127' }]), 'comes before first'],
    ['AddressPool', six('2001:db8::1:0', '2001:db8::ffff'), 'comes before first'],
    ['AddressPool', six('2001:db9::', '2001:db8::'), 'comes before first'],
    ['AddressPool', pool([{ first: '192.0.2.10', last: '2001:db8::1' }]), 'another family'],
    ['AddressPool', pool([{ first: 'x', last: '192.0.2.9' }]), 'spec.addresses[0].first'],
    ['AddressPool', pool([{ first: '192.0.2.9' }]), 'must have either cidr, or first and last'],
    ['AddressPool', pool([{}]), 'must have either cidr, or first and last'],
    [
      'AddressPool',
      pool([{ cidr: '192.0.2.128/25', first: '192.0.2.9', last: '192.0.2.9' }]),
      'must have either cidr, or first and last',
    ],
    ['AddressPool', pool([]), 'spec.addresses'],
    ['AddressPool', pool([{ cidr: '192.0.2.128/25' }], { gateway: '198.51.100.1' }), 'is outside of subnet'],
    ['AddressPool', pool([{ cidr: '192.0.2.128/25' }], { quarantineSeconds: -1 }), 'spec.quarantineSeconds'],
    ['NodeGroup', { fabric: {} }, 'must have either interface or reaches'],
    ['NodeGroup', { fabric: { interface: 'eth0', reaches: '192.0.2.1' } }, 'must have either interface or reaches'],
    ['NodeGroup', { fabric: { interface: 'a b' } }, 'spec.fabric.interface'],
    ['NodeGroup', { announcer: 'bgp' }, 'spec.bgp'],
    ['NodeGroup', { announcer: 'ospf' }, 'spec.announcer'],
    ['NodeGroup', { announcer: 'bgp', bgp: { localASN: 0 } }, 'spec.bgp.localASN'],
    ['NodeGroup', { announcer: 'bgp', bgp: { localASN: 23_456 } }, 'is reserved'],
    ['NodeGroup', { vrrp: { routerIds: [1, 2] } }, 'a different id for each shard'],
    ['NodeGroup', { vrrp: { shards: 2, routerIds: [7, 7] } }, 'a different id for each shard'],
    ['NodeGroup', { vrrp: { shards: 17 } }, 'spec.vrrp.shards'],
    ['NodeGroup', { nodeSelector: {} }, 'must have matchLabels or matchExpressions'],
    ['NodeGroup', { nodeSelector: { matchLabels: {}, matchExpressions: [] } }, 'must have matchLabels or matchExpr'],
    ['NodeGroup', { nodeSelector: { matchExpressions: [{ key: 'zone', operator: 'In' }] } }, 'need values'],
    [
      'NodeGroup',
      { nodeSelector: { matchExpressions: [{ key: 'z', operator: 'Exists', values: ['1'] }] } },
      'take none',
    ],
    ['NodeGroup', { nodeSelector: { matchExpressions: [{ key: 'z', operator: 'Gt', values: ['1'] }] } }, 'operator'],
    ['BgpPeer', { peerASN: 64_512 }, 'must have either peerAddress or unnumbered'],
    ['BgpPeer', peer({ unnumbered: true }), 'must have either peerAddress or unnumbered'],
    ['BgpPeer', { peerAddress: '192.0.2.1' }, 'needed without a template'],
    ['BgpPeer', peer({ peerAddress: '192.0.2' }), 'spec.peerAddress'],
    ['BgpPeer', peer({ peerASN: 65_535 }), 'is reserved'],
    ['BgpPeer', peer({ peerASN: 4_294_967_296 }), 'spec.peerASN'],
    ['BgpPeer', peer({ holdTimeSeconds: 2 }), 'spec.holdTimeSeconds'],
    ['BgpPeer', peer({ holdTimeSeconds: 9, keepaliveTimeSeconds: 4 }), 'more than a third'],
    ['BgpPeer', peer({ bfd: { profile: 'fast', multiplier: 3 } }), 'either profile, or'],
    ['BgpPeer', peer({ bfd: { multiplier: 3 } }), 'either profile, or'],
    ['BgpPeer', peer({ peerPort: 70_000 }), 'spec.peerPort'],
    ['BgpPeer', { unnumbered: true, peerASN: 1, hops: 2 }, '1 hop'],
    ['BgpAdvertisement', { communities: ['gold'] }, 'spec.communities[0]'],
    ['BgpAdvertisement', { aggregationLength: 4 }, 'spec.aggregationLength'],
    ['TenantQuota', { project: 'tenant', limits: {} }, 'spec.limits'],
    ['TenantQuota', { project: 'tenant', limits: { loadBalancers: -1 } }, 'spec.limits.loadBalancers'],
    ['TenantQuota', { limits: { loadBalancers: 1 } }, 'spec.project'],
    ['TenantQuota', { project: 'tenant' }, 'must have limits or classes'],
    ['TenantQuota', { project: 'tenant', classes: {} }, 'spec.classes'],
    ['TenantQuota', { project: 'tenant', classes: { gold: -1 } }, 'spec.classes.gold'],
    ['TenantQuota', { project: 'tenant', classes: { gold: 'two' } }, 'spec.classes.gold'],
  ])('refuse %s %j', async (kind, spec, words) => {
    expect(await refusal(kind, spec)).toContain(words)
  })

  test('refuse every AS number that the control plane refuses', async () => {
    const isTaken = (as: number) => bgpPeer.shape.as.safeParse(as).success
    for (const as of [0, 1, 23_456, 64_512, 65_535, 4_294_967_294, 4_294_967_295])
      expect([as, (await refusal('BgpPeer', peer({ peerASN: as }))) === null]).toEqual([as, isTaken(as)])
  })

  test('refuse changes of immutable fields', async () => {
    await bed.create('TenantQuota', 'fixed', { project: 'tenant', limits: { pools: 1 } })
    await bed.change('TenantQuota', 'fixed', { limits: { pools: 2 } })
    await expect(bed.change('TenantQuota', 'fixed', { project: 'other' })).rejects.toThrow('cannot be changed')
    // Until a pool was created from the object, its spec can be changed.
    await bed.create('AddressPool', 'fixed', pool([{ cidr: '192.0.2.128/25' }]))
    await bed.change('AddressPool', 'fixed', pool([{ cidr: '192.0.2.0/25' }]))
    await bed.api.patch(`${bed.pathOf('AddressPool', 'fixed')}/status`, { status: { id: 'x' } })
    await expect(bed.change('AddressPool', 'fixed', pool([{ cidr: '192.0.2.128/25' }]))).rejects.toThrow(
      'only draining can be changed once the pool exists',
    )
  })
})
