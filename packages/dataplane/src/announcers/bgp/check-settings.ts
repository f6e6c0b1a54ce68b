import type { BfdProfile, BgpAdvertisement, BgpPeerSettings, BgpSettings } from '@spout/model/node-state'
import { canonicalIp, parseIp } from '@spout/net'
import { addressText, BgpSettingsError, communityText, numberText, peerSymbol, quoted } from './bird-text.ts'

const LAST_U32 = 0xffff_ffff
const LAST_AS = 4_294_967_294
const MD5_LAST_LENGTH = 80

/** @throws BgpSettingsError naming the field, such as `peers[0].md5Secret`, and the reason */
export function checkBgpSettings(settings: BgpSettings): BgpSettings {
  if (parseIp(addressText('routerId', settings.routerId)).version !== 4 || settings.routerId === '0.0.0.0')
    throw new BgpSettingsError('routerId', 'is not a dotted IPv4 number')
  numberText('localAs', settings.localAs, 1, LAST_AS)
  for (const [index, peer] of settings.peers.entries()) checkPeer(`peers[${index}]`, peer)
  checkOverlaps(settings.peers)
  const peerIds = new Set(settings.peers.map(({ id }) => id))
  const numbers = new Set<number>()
  settings.advertisements.forEach((advertisement, index) => {
    const field = `advertisements[${index}]`
    checkAdvertisement(field, advertisement, peerIds)
    if (numbers.has(advertisement.number))
      throw new BgpSettingsError(`${field}.number`, 'is the number of another advertisement too')
    numbers.add(advertisement.number)
  })
  return settings
}

function checkPeer(field: string, peer: BgpPeerSettings): void {
  peerSymbol(`${field}.id`, peer.id)
  numberText(`${field}.port`, peer.port, 1, 65_535)
  numberText(`${field}.as`, peer.as, 1, LAST_AS)
  numberText(`${field}.hops`, peer.hops, 1, 255)
  numberText(`${field}.holdTimeS`, peer.holdTimeS, 3, 65_535)
  numberText(`${field}.keepaliveTimeS`, peer.keepaliveTimeS, 1, peer.holdTimeS)
  numberText(`${field}.connectRetryS`, peer.connectRetryS, 1, 65_535)
  numberText(`${field}.prefixLimit`, peer.prefixLimit, 1, LAST_U32)
  if (peer.gracefulRestartS !== null) numberText(`${field}.gracefulRestartS`, peer.gracefulRestartS, 1, 4_095)
  if (peer.families.length === 0) throw new BgpSettingsError(`${field}.families`, 'is empty')
  if (peer.sourceAddress !== null) addressText(`${field}.sourceAddress`, peer.sourceAddress)
  if (peer.address === null) {
    if (peer.hops > 1) throw new BgpSettingsError(`${field}.hops`, 'is more than 1 for an unnumbered session')
  } else if (peer.sourceAddress !== null && familyOf(field, peer.address) !== familyOf(field, peer.sourceAddress))
    throw new BgpSettingsError(`${field}.sourceAddress`, 'is of another family than address')
  else addressText(`${field}.address`, peer.address)
  if (peer.md5Secret !== null) {
    quoted(`${field}.md5Secret`, peer.md5Secret)
    if (peer.md5Secret.length < 1 || peer.md5Secret.length > MD5_LAST_LENGTH)
      throw new BgpSettingsError(`${field}.md5Secret`, `is not 1 to ${MD5_LAST_LENGTH} characters long`)
  }
  if (peer.bfd === null) return
  checkBfd(`${field}.bfd`, peer.bfd)
  // RFC 5883: only the pair of addresses identifies a multihop BFD session.
  if (peer.hops > 1 && peer.sourceAddress === null)
    throw new BgpSettingsError(`${field}.sourceAddress`, 'is needed for BFD over more than one hop')
}

function checkBfd(field: string, { minTransmitMs, minReceiveMs, multiplier }: BfdProfile): void {
  numberText(`${field}.minTransmitMs`, minTransmitMs, 1, 60_000)
  numberText(`${field}.minReceiveMs`, minReceiveMs, 1, 60_000)
  numberText(`${field}.multiplier`, multiplier, 1, 255)
}

/** Two sessions with one neighbour, or two that accept any neighbour, could not be told apart. */
function checkOverlaps(peers: readonly BgpPeerSettings[]): void {
  const taken = new Map<string, string>()
  peers.forEach(({ id, address }, index) => {
    for (const [field, key] of [
      ['id', `id ${id}`],
      ['address', address === null ? 'unnumbered' : canonicalIp(address)],
    ] as const) {
      const other = taken.get(key)
      if (other !== undefined) throw new BgpSettingsError(`peers[${index}].${field}`, `is that of peer ${other} too`)
      taken.set(key, id)
    }
  })
}

function checkAdvertisement(field: string, it: BgpAdvertisement, peerIds: ReadonlySet<string>): void {
  numberText(`${field}.number`, it.number, 1, 1_000)
  for (const [index, community] of it.communities.entries()) communityText(`${field}.communities[${index}]`, community)
  if (it.localPreference !== null) numberText(`${field}.localPreference`, it.localPreference, 0, LAST_U32)
  if (it.med !== null) numberText(`${field}.med`, it.med, 0, LAST_U32)
  // With a shorter length an aggregate would attract the traffic of much of the Internet.
  if (it.aggregateLength4 !== null) numberText(`${field}.aggregateLength4`, it.aggregateLength4, 8, 32)
  if (it.aggregateLength6 !== null) numberText(`${field}.aggregateLength6`, it.aggregateLength6, 16, 128)
  it.peerIds?.forEach((id, index) => {
    if (!peerIds.has(id)) throw new BgpSettingsError(`${field}.peerIds[${index}]`, 'is not a peer of this node')
  })
}

const familyOf = (field: string, address: string): 4 | 6 => parseIp(addressText(field, address)).version
