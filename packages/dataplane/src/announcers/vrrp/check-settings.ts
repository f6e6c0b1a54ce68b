import { LOCAL_SHARD } from '@spout/model/local-entries'
import type { VrrpPeers, VrrpSettings } from '@spout/model/node-state'
import { AddressSyntaxError, formatIp, parseIp } from '@spout/net'

/** VRRP settings or a configuration that was refused. The message names the field and the reason. */
export class VrrpRefused extends Error {
  override readonly name = 'VrrpRefused'
}

/**
 * Checks what the types do not express. After it, everything in the configuration text is a number or a canonical
 * address.
 * @throws VrrpRefused
 */
export function checkVrrpSettings(settings: VrrpSettings): void {
  checkPeers('', settings)
  if (settings.shards.length === 0) refuse('shards', 'there is none')
  const numbers = new Set<number>()
  const routerIds = new Set<number>()
  for (const [index, shard] of settings.shards.entries()) {
    checkNumber(`shards[${index}].number`, shard.number, 1, shard.apart === undefined ? 16 : LOCAL_SHARD)
    if (shard.apart !== undefined) checkPeers(`shards[${index}].apart.`, shard.apart)
    checkNumber(`shards[${index}].routerId`, shard.routerId, 1, 255)
    checkNumber(`shards[${index}].priority`, shard.priority, 1, 254)
    if (numbers.has(shard.number)) refuse(`shards[${index}].number`, `${shard.number} is named twice`)
    if (routerIds.has(shard.routerId)) refuse(`shards[${index}].routerId`, `${shard.routerId} is another shard's too`)
    numbers.add(shard.number)
    routerIds.add(shard.routerId)
  }
}

function checkPeers(of: string, settings: VrrpPeers): void {
  const version = checkAddress(`${of}source`, settings.source)
  for (const [index, peer] of settings.peers.entries()) {
    if (checkAddress(`${of}peers[${index}]`, peer) !== version)
      refuse(`${of}peers[${index}]`, `${peer} is not of the family of source ${settings.source}`)
    if (peer === settings.source) refuse(`${of}peers[${index}]`, `${peer} is this node's own address`)
    if (settings.peers.indexOf(peer) !== index) refuse(`${of}peers[${index}]`, `${peer} is named twice`)
  }
  checkNumber(`${of}advertMs`, settings.advertMs, 10, 40_950)
  if (settings.advertMs % 10 !== 0) refuse(`${of}advertMs`, `${settings.advertMs} is not a multiple of 10 (RFC 5798)`)
  checkNumber(`${of}missedAdverts`, settings.missedAdverts, 1, 100)
}

function checkAddress(field: string, text: string): 4 | 6 {
  try {
    const address = parseIp(text)
    if (formatIp(address) !== text) refuse(field, `${JSON.stringify(text)} is not in canonical form`)
    return address.version
  } catch (error) {
    if (error instanceof AddressSyntaxError) return refuse(field, error.message)
    throw error
  }
}

function checkNumber(field: string, value: number, first: number, last: number): void {
  if (!Number.isInteger(value) || value < first || value > last)
    refuse(field, `${value} is not a whole number from ${first} to ${last}`)
}

function refuse(field: string, reason: string): never {
  throw new VrrpRefused(`${field}: ${reason}`)
}
