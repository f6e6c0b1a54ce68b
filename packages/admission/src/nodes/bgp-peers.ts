import { type BgpPeer, effectiveBgpPeer, parseAs, REDACTED_SECRET, SpoutError } from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import {
  type AdmissionContext,
  deleteOf,
  find,
  newMeta,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import { type BgpPeerChange, type BgpPeerDraft, bgpPeerDraft } from '../contract/bgp-admission.ts'

export async function createBgpPeer(context: AdmissionContext, input: BgpPeerDraft): Promise<BgpPeer> {
  const draft = parseAs(bgpPeerDraft, input)
  if (draft.md5Secret === REDACTED_SECRET)
    throw new SpoutError('InvalidField', {
      field: 'md5Secret',
      reason: `${REDACTED_SECRET} stands for a secret that is stored already`,
    })
  return transact(context, (claim) => {
    const created: BgpPeer = { ...draft, ...newMeta(context, draft) }
    check(context, claim, created)
    return { writes: [putNew('bgpPeer', created)], result: created }
  })
}

export async function changeBgpPeer(context: AdmissionContext, id: string, change: BgpPeerChange): Promise<BgpPeer> {
  return transact(context, (claim) => {
    const stored = find(context, 'bgpPeer', id, 'BGP peer')
    const { createdAt, updatedAt: _, id: _id, ...before } = stored.value
    const secret = change.md5Secret === REDACTED_SECRET ? { md5Secret: before.md5Secret } : {}
    const next: BgpPeer = {
      ...parseAs(bgpPeerDraft, { ...before, ...change, ...secret }),
      id,
      createdAt,
      updatedAt: timestampOf(context.now()),
    }
    if (next.template !== before.template) throw new SpoutError('ImmutableField', { field: 'template' })
    check(context, claim, next)
    return { writes: [putOver('bgpPeer', stored, next)], result: next }
  })
}

/** Refused while a peer uses it as its template, or an advertisement names it. */
export async function deleteBgpPeer(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'bgpPeer', id, 'BGP peer')
    const heir = context.view.list('bgpPeer').find(({ templateId }) => templateId === id)
    if (heir !== undefined) throw new SpoutError('InUse', { what: 'BGP peer', id, user: `BGP peer ${heir.name}` })
    const advertisement = context.view.list('bgpAdvertisement').find(({ peerIds }) => peerIds?.includes(id) === true)
    if (advertisement !== undefined)
      throw new SpoutError('InUse', {
        what: 'BGP peer',
        id,
        user: `BGP advertisement ${advertisement.name || advertisement.id}`,
      })
    return { writes: [deleteOf('bgpPeer', stored)], result: undefined }
  })
}

function check(context: AdmissionContext, claim: Claim, peer: BgpPeer): void {
  const others = context.view.list('bgpPeer').filter(({ id }) => id !== peer.id)
  if (others.some(({ name }) => name === peer.name) || !claim.name(`bgpPeer/${peer.name}`))
    throw new SpoutError('NameTaken', { field: 'name', what: 'a BGP peer', name: peer.name })
  checkReferences(context, peer)
  const template = templateOf(peer, others)
  if (!peer.template) {
    checkTimers(peer, template, '')
    refuseSameAddress(context, claim, peer, others)
    return
  }
  checkTimers(peer, null, '')
  for (const heir of others) if (heir.templateId === peer.id) checkTimers(heir, peer, ` (for BGP peer ${heir.name})`)
}

function templateOf(peer: BgpPeer, others: readonly BgpPeer[]): BgpPeer | null {
  const { templateId } = peer
  if (templateId === null) return null
  if (peer.template)
    throw new SpoutError('InvalidField', { field: 'templateId', reason: 'a template cannot use another template' })
  const template = others.find(({ id }) => id === templateId)
  if (template === undefined)
    throw new SpoutError('ReferenceNotFound', { field: 'templateId', what: 'BGP peer', id: templateId })
  if (!template.template)
    throw new SpoutError('InvalidField', { field: 'templateId', reason: `BGP peer ${template.name} is no template` })
  return template
}

function checkReferences({ view }: AdmissionContext, { template, address, nodeSelection }: BgpPeer): void {
  if (template && address !== null)
    throw new SpoutError('InvalidField', { field: 'address', reason: 'a template has none' })
  if (template && nodeSelection !== null)
    throw new SpoutError('InvalidField', { field: 'nodeSelection', reason: 'a template selects no nodes' })
  if (nodeSelection === null) return
  const { nodeGroupIds, nodeIds } = nodeSelection
  if (nodeGroupIds.length + nodeIds.length === 0)
    throw new SpoutError('InvalidField', {
      field: 'nodeSelection',
      reason: 'selects nothing: name groups or nodes, or leave it null',
    })
  for (const [kind, what, field, ids] of [
    ['nodeGroup', 'node group', 'nodeGroupIds', nodeGroupIds],
    ['node', 'node', 'nodeIds', nodeIds],
  ] as const)
    for (const [index, id] of ids.entries())
      if (view.get(kind, id) === null)
        throw new SpoutError('ReferenceNotFound', { field: `nodeSelection.${field}[${index}]`, what, id })
}

/** Checks the timers that result from a peer and its template together. */
function checkTimers(peer: BgpPeer, template: BgpPeer | null, whose: string): void {
  const all = effectiveBgpPeer(peer, template)
  if (all.as === null && !peer.template) throw new SpoutError('MissingField', { field: 'as' })
  if (3 * all.keepaliveTimeS > all.holdTimeS)
    throw new SpoutError('InvalidField', {
      field: peer.keepaliveTimeS === null && peer.holdTimeS !== null ? 'holdTimeS' : 'keepaliveTimeS',
      reason: `a keepalive time of ${all.keepaliveTimeS} s is more than a third of the hold time of ${all.holdTimeS} s${whose}`,
    })
  if (peer.template) return
  if (peer.address === null && all.hops > 1)
    throw new SpoutError('InvalidField', { field: 'hops', reason: `an unnumbered peer is on the link: 1 hop${whose}` })
}

/** A node can have only one session with an address: packets of two could not be told apart. */
function refuseSameAddress({ view }: AdmissionContext, claim: Claim, peer: BgpPeer, others: readonly BgpPeer[]): void {
  if (peer.address !== null && !claim.name(`bgpPeer/address/${peer.address}`))
    throw new SpoutError('AddressTaken', { field: 'address', address: peer.address })
  for (const other of others) {
    if (other.template || other.address !== peer.address) continue
    const where = commonNodes(view, peer, other)
    if (where === null) continue
    const place = peer.address === null ? 'unnumbered' : peer.address
    throw new SpoutError('InvalidField', {
      field: 'address',
      reason: `BGP peer ${other.name} is ${place} too and selected for ${where}`,
    })
  }
}

function commonNodes(view: AdmissionContext['view'], a: BgpPeer, b: BgpPeer): string | null {
  const [first, second] = [a.nodeSelection, b.nodeSelection]
  if (first === null || second === null) return 'the same nodes'
  const group = first.nodeGroupIds.find((id) => second.nodeGroupIds.includes(id))
  if (group !== undefined) return `node group ${view.get('nodeGroup', group)?.value.name ?? group}`
  const reaches = (selection: typeof first, nodeId: string): boolean =>
    selection.nodeIds.includes(nodeId) ||
    selection.nodeGroupIds.includes(view.get('node', nodeId)?.value.nodeGroupId ?? '')
  const node = [...first.nodeIds, ...second.nodeIds].find((id) => reaches(first, id) && reaches(second, id))
  return node === undefined ? null : `node ${view.get('node', node)?.value.name ?? node}`
}
