import type { BgpPeerSettings, BgpSettings } from '@spout/model/node-state'
import { addressText, peerSymbol, quoted } from './bird-text.ts'
import { type BirdPlace, header } from './render-bgp.ts'

/**
 * Renders the configuration of the BFD daemon; null if no peer uses BFD.
 *
 * BFD runs in a process of its own, so that it does not share fate with BGP (RFC 5882 section 3.3). When the BGP daemon
 * dies, the router still sees a live node and keeps its routes during graceful restart. BIRD sets BFD parameters per
 * session only for BGP neighbours. So each BFD session is requested by a passive BGP session that no router connects
 * to.
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
    // `graceful`: the passive session does not change when BFD goes down.
    `  bfd { graceful; min tx interval ${minTransmitMs} ms; min rx interval ${minReceiveMs} ms; multiplier ${multiplier}; };`,
    '  ipv4 { import none; export none; };',
    '}',
    '',
  ].join('\n')
}
