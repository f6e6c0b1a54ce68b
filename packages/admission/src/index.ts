/**
 * The one write path: whatever surface a wish comes through, its references, quota and addresses are checked here and
 * committed in one transaction. It never answers a protocol's words; it throws the model's errors.
 */
export { type AddressPoolChange, type AddressPoolDraft, addressPoolChange } from './address-pools.ts'
export * from './admission.ts'
export {
  type BgpAdvertisementChange,
  type BgpAdvertisementDraft,
  bgpAdvertisementDraft,
} from './bgp-advertisements.ts'
export { type BgpPeerChange, type BgpPeerDraft, bgpPeerDraft } from './bgp-peers.ts'
export type { RandomSource } from './context.ts'
export { type NodeGroupChange, type NodeGroupDraft, nodeGroupChange, nodeGroupDraft } from './node-groups.ts'
export * from './node-link.ts'
export { type NodeChange, nodeChange } from './nodes.ts'
export * from './store-admission.ts'
export * from './store-view.ts'
export * from './view.ts'
