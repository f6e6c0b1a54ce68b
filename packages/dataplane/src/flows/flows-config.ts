import type { DomainEntry, FlowSettings } from '@spout/model/node-state'
import { formatIp, parseIp } from '@spout/net'

/** A domain whose flows survive a move of these addresses to another node. */
export interface SharedDomain {
  readonly number: number
  /** Path of its namespace. */
  readonly netns: string
  readonly addresses: readonly string[]
}

/** Null for a domain without shared addresses, where members see each node's own address, or the client's. */
export function sharedDomain(
  { number, subnets }: Pick<DomainEntry, 'number' | 'subnets'>,
  netns: string,
): SharedDomain | null {
  const addresses = subnets.flatMap(({ sharedAddress }) => sharedAddress ?? [])
  return addresses.length === 0 ? null : { number, netns, addresses }
}

/** A path without characters that the configuration uses. */
const PATH = /^\/[A-Za-z0-9._/@+-]{1,200}$/
const KEY = /^[0-9a-f]{64}$/

/**
 * Renders the configuration of `spout-flows`. The same settings give the same text.
 * @throws RangeError naming the invalid field
 */
export function flowsConfig(settings: FlowSettings, domains: Iterable<SharedDomain>): string {
  const { source, peers, port, key } = settings
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new RangeError(`flows.port: ${port} is not a port`)
  // The key's value must not be in any message.
  if (!KEY.test(key)) throw new RangeError('flows.key: is not 64 hex digits')
  return [
    `listen ${address('flows.source', source)} ${port}`,
    ...peers.toSorted().map((peer, index) => `peer ${address(`flows.peers[${index}]`, peer)} ${port}`),
    `key ${key}`,
    ...[...domains].toSorted((one, other) => one.number - other.number).map(domainLine),
    '',
  ].join('\n')
}

function domainLine({ number, netns, addresses }: SharedDomain): string {
  if (!PATH.test(netns))
    throw new RangeError(`domain ${number}: ${JSON.stringify(netns)} is not a path that a configuration can contain`)
  const words = addresses.map((each) => address(`domain ${number}: sharedAddress`, each))
  return ['domain', String(number), netns, ...words].join(' ')
}

function address(field: string, text: string): string {
  try {
    return formatIp(parseIp(text))
  } catch (error) {
    throw new RangeError(`${field}: ${JSON.stringify(text)} is not an address`, { cause: error })
  }
}
