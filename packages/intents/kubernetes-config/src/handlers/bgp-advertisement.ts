import type { BgpAdvertisementSpec } from '@spout/custom-resources'
import { bgpAdvertisement, parseAs } from '@spout/model'
import type { NativeObjects } from '../spout/native-objects.ts'
import { idsOf } from './bgp-peer.ts'
import type { DocumentKind } from './document-handler.ts'

const FIELDS = bgpAdvertisement.pick({
  addressPoolIds: true,
  communities: true,
  localPreference: true,
  med: true,
  aggregateLength4: true,
  aggregateLength6: true,
  peerIds: true,
})

export const bgpAdvertisementKind: DocumentKind<BgpAdvertisementSpec> = {
  kind: 'BgpAdvertisement',
  path: '/bgp-advertisements',
  what: 'BGP advertisement',
  fieldNames: {
    addressPoolIds: 'addressPools',
    peerIds: 'peers',
    localPreference: 'localPref',
    aggregateLength4: 'aggregationLength',
    aggregateLength6: 'aggregationLengthV6',
  },
  wanted: wantedAdvertisement,
  facts: async () => ({ fields: {}, conditions: [] }),
}

async function wantedAdvertisement(spec: BgpAdvertisementSpec, api: NativeObjects) {
  const { addressPools, peers } = spec
  return parseAs(FIELDS, {
    addressPoolIds:
      addressPools === undefined
        ? null
        : await idsOf(api, '/address-pools', 'address pool', addressPools, 'addressPools'),
    peerIds: peers === undefined ? null : await idsOf(api, '/bgp-peers', 'BGP peer', peers, 'peers'),
    communities: spec.communities ?? [],
    localPreference: spec.localPref ?? null,
    med: spec.med ?? null,
    aggregateLength4: spec.aggregationLength ?? null,
    aggregateLength6: spec.aggregationLengthV6 ?? null,
  })
}
