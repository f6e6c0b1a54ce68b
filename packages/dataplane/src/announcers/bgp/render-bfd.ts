import type { BgpPeerSettings, BgpSettings } from '@spout/model/node-state'
import { addressText, peerSymbol, quoted } from './bird-text.ts'
import { type BirdPlace, header } from './render-bgp.ts'

/**
 * The configuration of the BFD daemon, null when no peer wants BFD.
 *
 * It is a process of its own so that BFD, as RFC 5882 section 3.3 has it, does not share fate with BGP: when the BGP
 * daemon dies, the router goes on seeing a live node, and keeps its routes for the time of the graceful restart.
 * BIRD gives parameters of their own only to the BFD sessions of a BGP neighbour; so each is asked for by a passive one
 * that no router ever connects to.
 * @param settings checked by `checkBgpSettings`
 * @param found addresses of the neighbours of unnumbered sessions, by peer id
 */
export function renderBfd(
  settings: BgpSettings,
  place: Omit<BirdPlace, 'table'>,
  found: ReadonlyMap<string, string>,
): string | null {
  const peers = settings.peers.filter(({ bfd }) => bfd !== null).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (peers.length === 0) return null
  return [
    header(settings, place),
    'protocol bfd bfd1 { }',
    '',
    ...peers.flatMap((peer) => {
      const address = peer.address ?? found.get(peer.id)
      return address === undefined ? [] : [session(peer, address, settings, place)]
    }),
  ].join('\n')
}

function session(
  peer: BgpPeerSettings,
  found: string,
  { localAs }: BgpSettings,
  place: Omit<BirdPlace, 'table'>,
): string {
  const source = peer.sourceAddress === null ? '' : `${addressText('sourceAddress', peer.sourceAddress)} `
  const { minTransmitMs, minReceiveMs, multiplier } = peer.bfd!
  const address = addressText('address', found)
  return [
    `protocol bgp ${peerSymbol('peers.id', peer.id)} {`,
    `  local ${source}port ${place.listenPort} as ${localAs};`,
    `  neighbor ${address} as ${peer.as};`,
    ...(peer.hops > 1 ? [`  multihop ${peer.hops};`] : ['  direct;']),
    ...(address.startsWith('fe') ? [`  interface ${quoted('fabric interface', place.fabricInterface)};`] : []),
    '  passive on;',
    // `graceful`: the passive session stays as it is when BFD goes down.
    `  bfd { graceful; min tx interval ${minTransmitMs} ms; min rx interval ${minReceiveMs} ms; multiplier ${multiplier}; };`,
    '  ipv4 { import none; export none; };',
    '}',
    '',
  ].join('\n')
}
