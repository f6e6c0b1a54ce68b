import { dashedUuid } from '../wire/wire-type.ts'

const bitsOf = (id: string): bigint => BigInt(`0x${id.replaceAll('-', '')}`)

/**
 * Computes the id of the amphora of a load balancer on a node: the exclusive or of both ids. So the id never changes,
 * and each of the three follows from the other two.
 * @param id @param other UUIDs
 */
export const combinedId = (id: string, other: string): string =>
  dashedUuid((bitsOf(id) ^ bitsOf(other)).toString(16).padStart(32, '0'))
