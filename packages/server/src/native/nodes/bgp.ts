import { bgpAdvertisementDraft, bgpPeerDraft } from '@spout/admission/contract'
import { type BgpAdvertisementIntent, type BgpPeer, bgpAdvertisement, bgpPeer, effectiveBgpPeer } from '@spout/model'
import { isAdmin } from '../../authn/access.ts'
import { adminRoutes } from '../operations/admin-routes.ts'
import { changeOf } from '../operations/change-of.ts'
import type { Collection } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import type { Route } from '../operations/route.ts'
import { shownBgpPeer } from '../operations/shown.ts'
import { readRoutes } from '../watches/read-routes.ts'

/** A peer with the values of its template and the defaults, and its sessions on all nodes. */
const peerWithSessions = (context: NativeContext, peer: BgpPeer) => ({
  ...shownBgpPeer(context, peer),
  effective: effectiveOf(context, peer),
  selected: [
    ...(peer.nodeSelection?.nodeGroupIds ?? []).map((id) => nameOf(context, 'nodeGroup', id)),
    ...(peer.nodeSelection?.nodeIds ?? []).map((id) => nameOf(context, 'node', id)),
  ],
  status: {
    sessions: context.view.list('node').flatMap((node) =>
      context.status
        .node(node.id)
        .bgpSessions.filter(({ peerId }) => peerId === peer.id)
        .map(({ peerId: _, ...session }) => ({ nodeId: node.id, nodeName: node.name, ...session })),
    ),
  },
})

function effectiveOf(context: NativeContext, peer: BgpPeer) {
  const template = peer.templateId === null ? null : (context.view.get('bgpPeer', peer.templateId)?.value ?? null)
  const { md5Secret, ...settings } = effectiveBgpPeer(peer, template)
  return { ...settings, md5: md5Secret !== '', templateName: template?.name ?? null }
}

const nameOf = (context: NativeContext, kind: 'nodeGroup' | 'node' | 'addressPool' | 'bgpPeer', id: string): string =>
  context.view.get(kind, id)?.value.name || id

export const PEERS: Collection<'bgpPeer'> = {
  kind: 'bgpPeer',
  path: '/bgp-peers',
  what: 'BGP peer',
  access: 'admin',
  schema: bgpPeer,
  visible: isAdmin,
  show: peerWithSessions,
}

/** An advertisement with the names of the objects it refers to. */
const shownAdvertisement = (context: NativeContext, advertisement: BgpAdvertisementIntent) => ({
  ...advertisement,
  addressPools: advertisement.addressPoolIds?.map((id) => nameOf(context, 'addressPool', id)) ?? null,
  peers: advertisement.peerIds?.map((id) => nameOf(context, 'bgpPeer', id)) ?? null,
})

export const ADVERTISEMENTS: Collection<'bgpAdvertisement'> = {
  kind: 'bgpAdvertisement',
  path: '/bgp-advertisements',
  what: 'BGP advertisement',
  access: 'admin',
  schema: bgpAdvertisement,
  visible: isAdmin,
  show: shownAdvertisement,
}

const peers = adminRoutes(PEERS)
const advertisements = adminRoutes(ADVERTISEMENTS)

export const bgpRoutes: readonly Route[] = [
  ...readRoutes(PEERS),
  peers.create(
    'Create a BGP peer, or a template for peers; `md5Secret` is never shown again',
    bgpPeerDraft,
    ({ admission }, draft) => admission.createBgpPeer(draft),
  ),
  peers.change(
    'Change a BGP peer; absent fields stay, null resets one to the template or the default',
    changeOf(bgpPeerDraft),
    ({ admission }, id, change) => admission.changeBgpPeer(id, change),
  ),
  peers.delete('Delete a BGP peer that nothing refers to', ({ admission }, id) => admission.deleteBgpPeer(id)),
  ...readRoutes(ADVERTISEMENTS),
  advertisements.create(
    'Create a BGP advertisement: how the addresses of some pools are announced',
    bgpAdvertisementDraft,
    ({ admission }, draft) => admission.createBgpAdvertisement(draft),
  ),
  advertisements.change(
    'Change a BGP advertisement; absent fields stay',
    changeOf(bgpAdvertisementDraft),
    ({ admission }, id, change) => admission.changeBgpAdvertisement(id, change),
  ),
  advertisements.delete(
    'Delete a BGP advertisement; its addresses are then announced without attributes',
    ({ admission }, id) => admission.deleteBgpAdvertisement(id),
  ),
]
