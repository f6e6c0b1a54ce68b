import { bgpAdvertisementDraft, bgpPeerDraft } from '@spout/admission'
import { type BgpAdvertisementIntent, type BgpPeer, bgpAdvertisement, bgpPeer, effectiveBgpPeer } from '@spout/model'
import { isAdmin } from '../authn/access.ts'
import { changeOf } from './change-of.ts'
import { type Collection, find } from './collection.ts'
import type { NativeContext } from './context.ts'
import { readRoutes } from './read-routes.ts'
import { type Route, route } from './route.ts'
import { shownBgpPeer } from './shown.ts'

/** A peer with what its template and the defaults add, and what every node that speaks with it says of the session. */
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

const PEERS: Collection<'bgpPeer'> = {
  kind: 'bgpPeer',
  path: '/bgp-peers',
  what: 'BGP peer',
  access: 'admin',
  schema: bgpPeer,
  visible: isAdmin,
  show: peerWithSessions,
}

/** An advertisement with the names of what it names. */
const shownAdvertisement = (context: NativeContext, advertisement: BgpAdvertisementIntent) => ({
  ...advertisement,
  addressPools: advertisement.addressPoolIds?.map((id) => nameOf(context, 'addressPool', id)) ?? null,
  peers: advertisement.peerIds?.map((id) => nameOf(context, 'bgpPeer', id)) ?? null,
})

const ADVERTISEMENTS: Collection<'bgpAdvertisement'> = {
  kind: 'bgpAdvertisement',
  path: '/bgp-advertisements',
  what: 'BGP advertisement',
  access: 'admin',
  schema: bgpAdvertisement,
  visible: isAdmin,
  show: shownAdvertisement,
}

export const bgpRoutes: readonly Route[] = [
  ...readRoutes(PEERS),
  route({
    method: 'POST',
    path: '/bgp-peers',
    tag: 'bgp-peers',
    summary: 'Create a BGP peer, or a template for peers; `md5Secret` is never shown again',
    access: 'admin',
    body: bgpPeerDraft,
    answer: { status: 201, schema: bgpPeer },
    handle: async (context, { body }) => peerWithSessions(context, await context.admission.createBgpPeer(body)),
  }),
  route({
    method: 'PATCH',
    path: '/bgp-peers/:id',
    tag: 'bgp-peers',
    summary: 'Change a BGP peer; what is not named stays, null goes back to the template or the default',
    access: 'admin',
    body: changeOf(bgpPeerDraft),
    answer: { status: 200, schema: bgpPeer },
    handle: async (context, { principal, params, body }) => {
      const { id } = find(PEERS, context, principal, params.id ?? '')
      return peerWithSessions(context, await context.admission.changeBgpPeer(id, body))
    },
  }),
  route({
    method: 'DELETE',
    path: '/bgp-peers/:id',
    tag: 'bgp-peers',
    summary: 'Delete a BGP peer that nothing names',
    access: 'admin',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, { principal, params }) =>
      context.admission.deleteBgpPeer(find(PEERS, context, principal, params.id ?? '').id),
  }),
  ...readRoutes(ADVERTISEMENTS),
  route({
    method: 'POST',
    path: '/bgp-advertisements',
    tag: 'bgp-advertisements',
    summary: 'Say something with the addresses of some pools',
    access: 'admin',
    body: bgpAdvertisementDraft,
    answer: { status: 201, schema: bgpAdvertisement },
    handle: async (context, { body }) =>
      shownAdvertisement(context, await context.admission.createBgpAdvertisement(body)),
  }),
  route({
    method: 'PATCH',
    path: '/bgp-advertisements/:id',
    tag: 'bgp-advertisements',
    summary: 'Change what is said; what is not named stays',
    access: 'admin',
    body: changeOf(bgpAdvertisementDraft),
    answer: { status: 200, schema: bgpAdvertisement },
    handle: async (context, { principal, params, body }) => {
      const { id } = find(ADVERTISEMENTS, context, principal, params.id ?? '')
      return shownAdvertisement(context, await context.admission.changeBgpAdvertisement(id, body))
    },
  }),
  route({
    method: 'DELETE',
    path: '/bgp-advertisements/:id',
    tag: 'bgp-advertisements',
    summary: 'Say it no more: the addresses go out plainly',
    access: 'admin',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, { principal, params }) =>
      context.admission.deleteBgpAdvertisement(find(ADVERTISEMENTS, context, principal, params.id ?? '').id),
  }),
]
