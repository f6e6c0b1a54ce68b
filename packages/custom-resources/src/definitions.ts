import { type CrdDraft, type CustomResourceDefinition, customResourceDefinition } from '@spout/kube'
import { addressPoolCrd } from './address-pool.ts'
import { bgpAdvertisementCrd } from './bgp-advertisement.ts'
import { bgpPeerCrd } from './bgp-peer.ts'
import { loadBalancerCrd } from './load-balancer.ts'
import { nodeGroupCrd } from './node-group.ts'
import { tenantQuotaCrd } from './tenant-quota.ts'

/** The kinds that people write, and last the one that only we write. */
export const CRD_DRAFTS: readonly CrdDraft[] = [
  addressPoolCrd,
  nodeGroupCrd,
  bgpPeerCrd,
  bgpAdvertisementCrd,
  tenantQuotaCrd,
  loadBalancerCrd,
]

export const customResourceDefinitions = (): readonly CustomResourceDefinition[] =>
  CRD_DRAFTS.map(customResourceDefinition)
