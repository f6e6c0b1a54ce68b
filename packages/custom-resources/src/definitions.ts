import { type CrdDraft, type CustomResourceDefinition, customResourceDefinition } from '@spout/kube'
import { addressPoolCrd } from './address-pool.ts'
import { bgpAdvertisementCrd } from './bgp-advertisement.ts'
import { bgpPeerCrd } from './bgp-peer.ts'
import { loadBalancerCrd } from './load-balancer.ts'
import { nodeGroupCrd } from './node-group.ts'
import { observedLoadBalancerCrd } from './observed-load-balancer.ts'
import { tenantQuotaCrd } from './tenant-quota.ts'

/** The kinds of configuration. Only administrators write objects of these. */
const CONFIGURATION = {
  AddressPool: addressPoolCrd,
  NodeGroup: nodeGroupCrd,
  BgpPeer: bgpPeerCrd,
  BgpAdvertisement: bgpAdvertisementCrd,
  TenantQuota: tenantQuotaCrd,
} as const satisfies Readonly<Record<string, CrdDraft>>

/** The name of a kind of configuration. Each needs a handler. */
export type ConfigurationKind = keyof typeof CONFIGURATION

export const CONFIGURATION_DRAFTS: readonly CrdDraft[] = Object.values(CONFIGURATION)

/** All kinds. Tenants write `LoadBalancer` objects; only we write `ObservedLoadBalancer` objects. */
export const CRD_DRAFTS: readonly CrdDraft[] = [...CONFIGURATION_DRAFTS, observedLoadBalancerCrd, loadBalancerCrd]

export const customResourceDefinitions = (): readonly CustomResourceDefinition[] =>
  CRD_DRAFTS.map(customResourceDefinition)
