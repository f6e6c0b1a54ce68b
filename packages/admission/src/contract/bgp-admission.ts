import { type BgpAdvertisementIntent, type BgpPeer, bgpAdvertisement, bgpPeer } from '@spout/model'
import type { z } from 'zod'

export const bgpPeerDraft = bgpPeer.omit({ id: true, createdAt: true, updatedAt: true }).extend({
  name: bgpPeer.shape.name.min(1),
  description: bgpPeer.shape.description.default(''),
})
export type BgpPeerDraft = z.input<typeof bgpPeerDraft>

/** Fields that are absent keep their values. Null resets a setting to the template's value or the default. */
export type BgpPeerChange = Partial<BgpPeerDraft>

export const bgpAdvertisementDraft = bgpAdvertisement
  .omit({ id: true, createdAt: true, updatedAt: true, number: true })
  .extend({
    name: bgpAdvertisement.shape.name.min(1),
    description: bgpAdvertisement.shape.description.default(''),
  })
export type BgpAdvertisementDraft = z.input<typeof bgpAdvertisementDraft>
export type BgpAdvertisementChange = Partial<BgpAdvertisementDraft>

/** Writes of BGP peers and BGP advertisements. */
export interface BgpAdmission {
  createBgpPeer(draft: BgpPeerDraft): Promise<BgpPeer>
  changeBgpPeer(id: string, change: BgpPeerChange): Promise<BgpPeer>
  deleteBgpPeer(id: string): Promise<void>
  createBgpAdvertisement(draft: BgpAdvertisementDraft): Promise<BgpAdvertisementIntent>
  changeBgpAdvertisement(id: string, change: BgpAdvertisementChange): Promise<BgpAdvertisementIntent>
  deleteBgpAdvertisement(id: string): Promise<void>
}
