import {
  type BgpAdvertisement,
  type BgpAdvertisementIntent,
  type BgpPeer,
  type BgpPeerSettings,
  type BgpSettings,
  effectiveBgpPeer,
  type GroupBgp,
  PLAIN_ADVERTISEMENT,
} from '@spout/model'
import type { Reason } from '../../reason.ts'
import { familyOf, type GroupNode, hasSuccessor } from '../group-node.ts'
import { bfdProfile } from './bfd-profile.ts'

export interface BgpPart {
  readonly settings: BgpSettings
  readonly problems: readonly Reason[]
  /** When the drain's next step is due, in milliseconds since 1970. Null: there is none. */
  readonly againAtMs: number | null
}

/** Plans a node's BGP sessions and what it announces over them. */
export function planBgp(input: {
  readonly bgp: GroupBgp
  readonly groupId: string
  readonly node: GroupNode
  readonly nodes: readonly GroupNode[]
  /** All stored peers, templates included. */
  readonly peers: readonly BgpPeer[]
  readonly advertisements: readonly BgpAdvertisementIntent[]
  readonly nowMs: number
  /** Whether the node, though draining, keeps announcing for now. */
  readonly heldBack: boolean
}): BgpPart {
  const { bgp, node } = input
  const problems: Reason[] = []
  const peers = new Map<string, BgpPeerSettings>()
  for (const peer of [...input.peers].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (peer.template || !isSelected(peer, input.groupId, node.id)) continue
    const template = input.peers.find(({ id }) => id === peer.templateId) ?? null
    const settings = peerSettings(peer, template, node)
    const place = peer.address ?? 'unnumbered'
    if (settings === null)
      problems.push({ code: 'PeerIncomplete', message: `BGP peer \`${peer.name || peer.id}\` has no AS number.` })
    else if (peers.has(place))
      problems.push({
        code: 'PeerTwice',
        message: `BGP peer \`${peer.name || peer.id}\` is left out: another has the address ${place} too.`,
      })
    else peers.set(place, settings)
  }
  if (peers.size === 0) problems.push({ code: 'NoBgpPeer', message: 'No BGP peer is selected for it.' })
  const { drain, againAtMs } = input.heldBack ? NO_DRAIN : drainStep(bgp, node, input.nodes, input.nowMs)
  return {
    settings: {
      routerId: routerIdOf(node),
      localAs: bgp.localAs,
      peers: [...peers.values()],
      advertisements: [PLAIN, ...[...input.advertisements].sort((a, b) => a.number - b.number).map(said)],
      drain,
    },
    problems,
    againAtMs,
  }
}

export function isSelected(
  { nodeSelection }: Pick<BgpPeer, 'nodeSelection'>,
  groupId: string,
  nodeId: string,
): boolean {
  if (nodeSelection === null) return true
  return nodeSelection.nodeGroupIds.includes(groupId) || nodeSelection.nodeIds.includes(nodeId)
}

function peerSettings(peer: BgpPeer, template: BgpPeer | null, node: GroupNode): BgpPeerSettings | null {
  const all = effectiveBgpPeer(peer, template)
  if (all.as === null) return null
  const { address } = peer
  const own = node.fabricAddress
  const routed = all.hops > 1 && address !== null && own !== null && familyOf(own) === familyOf(address)
  return {
    id: peer.id,
    address,
    port: all.port,
    as: all.as,
    // A peer several hops away accepts a session only from the address that it is configured with. For a peer on the
    // link the kernel chooses the source address best.
    sourceAddress: routed ? own : null,
    hops: all.hops,
    ttlSecurity: all.ttlSecurity,
    md5Secret: all.md5Secret === '' ? null : all.md5Secret,
    holdTimeS: all.holdTimeS,
    keepaliveTimeS: all.keepaliveTimeS,
    connectRetryS: all.connectRetryS,
    families: all.families,
    bfd: bfdProfile(all.bfd),
    gracefulRestartS: all.gracefulRestartS === 0 ? null : all.gracefulRestartS,
    prefixLimit: all.prefixLimit,
  }
}

const NO_DRAIN = { drain: 'none', againAtMs: null } as const

/**
 * The drain's present step. First the node asks its routers to prefer other nodes; after `drainSeconds` it announces
 * nothing. A node without a successor stays at the first step.
 */
function drainStep(
  bgp: GroupBgp,
  node: GroupNode,
  nodes: readonly GroupNode[],
  nowMs: number,
): { readonly drain: BgpSettings['drain']; readonly againAtMs: number | null } {
  if (node.scheduling !== 'draining') return NO_DRAIN
  const withdrawAtMs = Date.parse(node.schedulingSince ?? new Date(0).toISOString()) + 1000 * bgp.drainSeconds
  if (!hasSuccessor(node, nodes)) return { drain: 'prefer-others', againAtMs: null }
  return nowMs >= withdrawAtMs
    ? { drain: 'withdrawn', againAtMs: null }
    : { drain: 'prefer-others', againAtMs: withdrawAtMs }
}

/**
 * The BGP identifier: the node's IPv4 address, or without one the start of its random id. It may be any number except 0
 * that is unique in the AS (RFC 6286).
 */
function routerIdOf({ id, fabricAddress }: GroupNode): string {
  if (fabricAddress !== null && familyOf(fabricAddress) === 4) return fabricAddress
  const number = Number.parseInt(id.slice(0, 8), 16) || 1
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.')
}

const PLAIN: BgpAdvertisement = {
  number: PLAIN_ADVERTISEMENT,
  communities: [],
  localPreference: null,
  med: null,
  aggregateLength4: null,
  aggregateLength6: null,
  peerIds: null,
}

const said = (intent: BgpAdvertisementIntent): BgpAdvertisement => ({
  number: intent.number,
  communities: intent.communities,
  localPreference: intent.localPreference,
  med: intent.med,
  aggregateLength4: intent.aggregateLength4,
  aggregateLength6: intent.aggregateLength6,
  peerIds: intent.peerIds,
})
