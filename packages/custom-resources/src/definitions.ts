import { type CrdDraft, type CustomResourceDefinition, customResourceDefinition } from '@spout/kube'
import { addressPoolCrd } from './address-pool.ts'
import { bgpAdvertisementCrd } from './bgp-advertisement.ts'
import { bgpPeerCrd } from './bgp-peer.ts'
import { loadBalancerCrd } from './load-balancer.ts'
import { nodeGroupCrd } from './node-group.ts'
import { tenantQuotaCrd } from './tenant-quota.ts'

/** Custom resources by kind. People write all of them except `LoadBalancer`, which only we write. */
const CRDS = {
  AddressPool: addressPoolCrd,
  NodeGroup: nodeGroupCrd,
  BgpPeer: bgpPeerCrd,
  BgpAdvertisement: bgpAdvertisementCrd,
  TenantQuota: tenantQuotaCrd,
  LoadBalancer: loadBalancerCrd,
} as const satisfies Readonly<Record<string, CrdDraft>>

/** The kinds that people write: each needs a handler. */
export type WrittenKind = Exclude<keyof typeof CRDS, 'LoadBalancer'>

export const CRD_DRAFTS: readonly CrdDraft[] = Object.values(CRDS)

export const customResourceDefinitions = (): readonly CustomResourceDefinition[] =>
  CRD_DRAFTS.map(customResourceDefinition)
