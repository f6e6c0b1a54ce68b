import {
  absent,
  addressOf,
  addressRecord,
  DnsFailure,
  type DnsRecord,
  type NameServer,
  removal,
  removalOf,
  same,
  textOf,
  textRecord,
} from '@spout/dns'
import { type AddressType, ownerOf, ownershipName, ownershipText } from './ownership.ts'

/** The wanted address records of one name and type. */
export interface RecordRequest {
  readonly name: string
  readonly type: AddressType
  readonly ttlSeconds: number
  /** The resource that the ownership record names. */
  readonly resource: string
  /** @param published the addresses that we have published for the name so far */
  readonly addresses: (published: ReadonlySet<string>) => readonly string[]
}

export interface Place {
  readonly server: Pick<NameServer, 'query' | 'update'>
  readonly zone: string
  /** The owner that ownership records name. */
  readonly owner: string
}

/** The name has records of this type, or an alias, that we do not own. They stay as they are. */
export class NotOurs extends Error {
  override readonly name = 'NotOurs'
}

/**
 * Publishes the records of a name and type, if we own the present records or there are none. The prerequisites of the
 * update make the server check the owner in the same transaction in which it changes the records.
 * @returns the addresses that the name has now
 * @throws DnsFailure, NotOurs
 */
export async function publishAddresses(place: Place, request: RecordRequest): Promise<readonly string[]> {
  const { server, owner } = place
  const { name, type } = request
  const marks = await server.query(ownershipName(name, type), 'TXT')
  const own = marks.find((mark) => ownerOf(textOf(mark)) === owner)
  if (own !== undefined) {
    const records = await server.query(name, type)
    const addresses = request.addresses(new Set(records.map(addressOf))).toSorted()
    const wanted = recordsOf(place, request, addresses)
    const isPublished =
      sameRecords(records, wanted.addresses) && wanted.marks.some((mark) => textOf(mark) === textOf(own))
    if (isPublished) return addresses
    const changes = [removal(name, type), removalOf(own), ...wanted.addresses, ...wanted.marks]
    // The TXT record may be that of a wildcard. Then the name itself has no record of ours, and the update is refused.
    if (await isApplied(place, marks.map(same), changes)) return addresses
  }
  const addresses = request.addresses(new Set()).toSorted()
  if (addresses.length === 0) return []
  const wanted = recordsOf(place, request, addresses)
  const nothing = [absent(name, type), absent(name, 'CNAME'), absent(ownershipName(name, type), 'TXT')]
  if (await isApplied(place, nothing, [...wanted.addresses, ...wanted.marks])) return addresses
  throw new NotOurs(whyNotOurs(request, marks))
}

/** @returns false if the prerequisites do not hold */
async function isApplied(
  { server, zone }: Place,
  prerequisites: readonly DnsRecord[],
  changes: readonly DnsRecord[],
): Promise<boolean> {
  try {
    await server.update({ zone, prerequisites, changes })
    return true
  } catch (error) {
    if (error instanceof DnsFailure && error.kind === 'prerequisite') return false
    throw error
  }
}

const recordsOf = (
  { owner }: Place,
  { name, type, ttlSeconds, resource }: RecordRequest,
  addresses: readonly string[],
) => ({
  addresses: addresses.map((address) => addressRecord(name, address, ttlSeconds)),
  marks:
    addresses.length === 0 ? [] : [textRecord(ownershipName(name, type), ownershipText(owner, resource), ttlSeconds)],
})

function sameRecords(before: readonly DnsRecord[], after: readonly DnsRecord[]): boolean {
  const words = (records: readonly DnsRecord[]) =>
    records
      .map((record) => `${record.ttl} ${addressOf(record)}`)
      .toSorted()
      .join()
  return words(before) === words(after)
}

function whyNotOurs({ name, type }: RecordRequest, marks: readonly DnsRecord[]): string {
  const other = marks.map((mark) => ownerOf(textOf(mark))).find((owner) => owner !== null)
  const whose = other === undefined ? 'that are not ours' : `whose owner is ${other}`
  return `${name} has ${type} records, or an alias or a text beside them, ${whose}`
}
