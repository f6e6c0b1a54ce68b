import type { DomainHosts, Network } from '@spout/model'
import { parseIp } from '@spout/net'

/** A node that carries a network of return path `node`, and may host members of it. */
export interface HostingNode {
  readonly id: string
  readonly name: string
  /** Null while it is unknown. */
  readonly fabricAddress: string | null
}

/**
 * Plans which node hosts which members, as each node gets it, by node id. A node's number depends on its id alone unless
 * two have the same, so that flows which are remembered by it stay with their node when others come and go.
 */
export function planHosts(
  { number: vni, routes }: Pick<Network, 'number' | 'routes'>,
  nodes: readonly HostingNode[],
): ReadonlyMap<string, DomainHosts> {
  const numbers = numbersOf(nodes.map(({ id }) => id))
  const byName = new Map(nodes.map(({ id, name }) => [name, numbers.get(id)!]))
  const prefixes = routes.flatMap(({ to, node }) => {
    const host = node === undefined ? undefined : byName.get(node)
    return host === undefined ? [] : [{ to, host }]
  })
  return new Map(
    nodes.map(({ id, fabricAddress: address }) => {
      const peers = nodes.flatMap((other) =>
        other.id !== id && other.fabricAddress !== null && isSameFamily(address, other.fabricAddress)
          ? [{ number: numbers.get(other.id)!, address: other.fabricAddress }]
          : [],
      )
      return [id, { vni, own: numbers.get(id)!, address, peers, prefixes }]
    }),
  )
}

const isSameFamily = (one: string | null, other: string): boolean =>
  one !== null && parseIp(one).version === parseIp(other).version

const MOST_NUMBERS = 0x00ff_ffff
/** A packet's priority has the number. Of an ordinary queue's priorities, its lowest four bits, 0 is the usual one. */
const STEP = 16

/**
 * Multiples of `STEP`, by id, from `STEP` to `STEP * MOST_NUMBERS`. Of two ids with the same hash the second in order
 * gets the next free number.
 */
function numbersOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  const taken = new Set<number>()
  for (const id of [...ids].sort()) {
    let number = (fnv1a(id) % MOST_NUMBERS) + 1
    while (taken.has(number)) number = (number % MOST_NUMBERS) + 1
    taken.add(number)
    numbers.set(id, number * STEP)
  }
  return numbers
}

/** FNV-1a of 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c_9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193)
  return hash >>> 0
}
