import { formatIp, type Ip } from '@spout/net'
import { type Problem, problem } from '../reason.ts'
import type { AddressIndex } from './address-index.ts'
import { type AddressSpace, anyContains, spaceSize } from './address-space.ts'

export interface AddressRequest {
  /** The requested address. Null: the lowest free one. */
  readonly address: Ip | null
  readonly projectId: string | null
  readonly nowMs: number
  /** Path of the request in the user's document, such as `vips[0].address`. */
  readonly field: string
  /** Whether an address is in use without an Address object, such as a member's. */
  readonly avoid?: (ip: Ip) => boolean
}

export type Allocation = { readonly ip: Ip } | { readonly problem: Problem }

/** Chooses an address. It is in use only once its Address object is stored. */
export function allocateAddress(space: AddressSpace, index: AddressIndex, request: AddressRequest): Allocation {
  const { address, projectId, nowMs, field, avoid = () => false } = request
  if (address === null) {
    const ip = passingOver(index, avoid, () => index.lowestFree(space.ranges, projectId, nowMs))
    return ip === null ? { problem: exhausted(space) } : { ip }
  }
  const text = formatIp(address)
  if (!anyContains(space.whole, address))
    return { problem: problem('AddressOutsideSubnet', { field, address: text, cidr: space.within }) }
  if (!anyContains(space.ranges, address)) {
    const reason = 'it is set aside for a gateway, for nodes, or names the subnet itself'
    return { problem: problem('AddressForbidden', { field, address: text, reason }) }
  }
  if (avoid(address) || !index.isFreeFor(address, projectId, nowMs))
    return { problem: problem('AddressTaken', { field, address: text }) }
  return { ip: address }
}

/** Chooses a node's own address: the highest free one. */
export const allocateNodeAddress = (
  space: AddressSpace,
  index: AddressIndex,
  avoid: (ip: Ip) => boolean,
  nowMs: number,
): Ip | null => passingOver(index, avoid, () => index.highestFree(space.ranges, nowMs))

function passingOver(index: AddressIndex, avoid: (ip: Ip) => boolean, next: () => Ip | null): Ip | null {
  const passed: Ip[] = []
  try {
    for (;;) {
      const ip = next()
      if (ip === null || !avoid(ip)) return ip
      index.hold(ip)
      passed.push(ip)
    }
  } finally {
    for (const ip of passed) index.unhold(ip)
  }
}

const exhausted = (space: AddressSpace): Problem =>
  problem('AddressPoolExhausted', { pool: space.name, size: String(spaceSize(space)) })

/** For messages: `Address pool public has 3 of 254 addresses free`. */
export function describeFree(space: AddressSpace, index: AddressIndex, nowMs: number): string {
  const size = spaceSize(space)
  return `Address pool ${space.name} has ${size - index.occupiedWithin(space.ranges, nowMs)} of ${size} addresses free`
}
