import { announcerNamed, type BgpPeer, effectiveBgpPeer } from '@spout/model'
import type { Finding } from '@spout/runtime/findings'
import type { Facts } from '../facts.ts'

/**
 * What the network has to do. Where nodes speak BGP a router has limits that nodes cannot see: how many prefixes it
 * takes from a neighbour, over how many next hops it spreads one, and how often it may be asked by BFD.
 */
export function checkRouters(facts: Facts): readonly Finding[] {
  const toRouters = facts.groups.some(({ announcer }) => announcerNamed(announcer).announcedBy === 'every-node')
  if (!toRouters)
    return [
      {
        ...{ level: 'ok', check: 'routers', subject: null, fix: null },
        message: 'No node speaks BGP: routers learn the addresses by ARP and neighbour discovery and need no settings.',
      },
    ]
  const peers = facts.peers.filter(({ template }) => !template)
  if (peers.length === 0)
    return [
      {
        ...{
          level: 'error',
          check: 'routers',
          subject: null,
          message: 'A group announces by BGP, and there is no peer.',
        },
        fix: 'spout bgp-peer create NAME --address ADDRESS --as NUMBER',
      },
    ]
  return peers.flatMap((peer) => demandsOn(peer, facts))
}

function demandsOn(peer: BgpPeer, { peers, nodes }: Facts): readonly Finding[] {
  const subject = peer.name || peer.address || peer.id
  const { prefixLimit, bfd, gracefulRestartS } = effectiveBgpPeer(
    peer,
    peers.find(({ id }) => id === peer.templateId) ?? null,
  )
  const sessions = nodes.flatMap(({ status }) => status.bgpSessions.filter(({ peerId }) => peerId === peer.id))
  if (sessions.length === 0)
    return [
      {
        ...{ level: 'warning', check: 'routers', subject, message: 'No node has a session with it.' },
        fix: 'docs/runbook.md, "A BGP peer is left out"',
      },
    ]
  const most = Math.max(...sessions.map(({ announced }) => announced))
  const demand: Finding = {
    ...{ level: 'notice', check: 'routers', subject },
    message: `It gets up to ${most} prefixes from each of ${sessions.length} nodes.`,
    fix: [
      `on the router: maximum-prefix of ${prefixLimit} or more for each neighbour`,
      `ECMP over ${sessions.length} next hops or more, with resilient hashing if it has it`,
      bfd === 'none' ? 'a hold time that you can wait for, since BFD is off' : `BFD ${bfdText(bfd)}`,
      gracefulRestartS === 0 ? 'no graceful restart' : `graceful restart as helper for ${gracefulRestartS} s`,
    ].join('; '),
  }
  if (most < prefixLimit) return [demand]
  const full: Finding = {
    ...{
      level: 'error',
      check: 'routers',
      subject,
      message: `A node announces ${most} prefixes, its limit: others are left out.`,
    },
    fix: `raise it on the router first, then: spout bgp-peer set ${subject} --prefix-limit NUMBER`,
  }
  return [full, demand]
}

const bfdText = (bfd: Exclude<BgpPeer['bfd'], null>): string =>
  typeof bfd === 'string'
    ? `with the times of the profile ${bfd}`
    : `every ${bfd.minReceiveMs} ms, ${bfd.multiplier} times`
