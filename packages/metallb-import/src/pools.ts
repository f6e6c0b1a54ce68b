import type { AddressPoolSpec } from '@spout/custom-resources'
import {
  AddressSyntaxError,
  type Cidr,
  cidrToRange,
  endsOf,
  formatCidr,
  formatIp,
  type IpRange,
  ipBits,
  parseCidr,
  parseIpRange,
  rangeContains,
} from '@spout/net'
import { BadManifests } from './manifest.ts'
import { type Note, noteOf, type Source } from './source.ts'

const MOST_RANGES = 64

/** The conversion of an IPAddressPool: one pool per family. */
export interface ConvertedPool {
  readonly source: Source<'IPAddressPool'>
  readonly name: string
  readonly version: 4 | 6
  readonly ranges: readonly IpRange[]
  readonly notes: readonly Note[]
}

/** @throws BadManifests */
export function convertPool(source: Source<'IPAddressPool'>): readonly ConvertedPool[] {
  const { manifest, spec } = source
  const ranges = spec.addresses.map((text, index) => rangeOf(source, text, index))
  const versions = ([4, 6] as const).filter((version) => ranges.some((range) => range.version === version))
  return versions.map((version, index) => {
    const own = ranges.filter((range) => range.version === version)
    const notes = index === 0 ? notesOf(source) : []
    if (versions.length === 2)
      notes.push(
        noteOf(source, 'spec.addresses', 'has both families, a pool here has one: there is a second pool for IPv6'),
      )
    const avoiding = spec.avoidBuggyIPs === true && version === 4
    const kept = avoiding ? own.flatMap(withoutEdges) : own
    const fit = kept.length <= MOST_RANGES
    if (!fit)
      notes.push(
        noteOf(
          source,
          'spec.avoidBuggyIPs',
          `needs ${kept.length} ranges, a pool here has at most ${MOST_RANGES}: left out`,
        ),
      )
    const name = index === 0 ? manifest.name : `${manifest.name}-v6`
    return { source, name, version, ranges: fit ? kept : own, notes }
  })
}

function rangeOf({ manifest }: Source<'IPAddressPool'>, text: string, index: number): IpRange {
  try {
    // MetalLB reads a prefix with host bits as the prefix.
    return text.includes('/') && !text.includes('-')
      ? cidrToRange(parseCidr(text.trim(), 'clear'))
      : parseIpRange(text.trim())
  } catch (error) {
    if (!(error instanceof AddressSyntaxError)) throw error
    const about = `${manifest.kind} ${manifest.name}`
    throw new BadManifests([`${manifest.where} (${about}): spec.addresses[${index}]: ${error.message}`])
  }
}

function notesOf(source: Source<'IPAddressPool'>): Note[] {
  const { autoAssign, serviceAllocation } = source.spec
  const notes: Note[] = []
  if (autoAssign === false)
    notes.push(
      noteOf(
        source,
        'spec.autoAssign',
        'no equivalent on a pool: name the pools for Services that ask for none in services.addressPools of the connector',
      ),
    )
  for (const field of Object.keys(serviceAllocation ?? {}))
    notes.push(
      noteOf(
        source,
        `spec.serviceAllocation.${field}`,
        'no equivalent: who may take from a pool is said by spec.projects, its order by services.addressPools of the connector',
      ),
    )
  return notes
}

/** Removes IPv4 addresses that end in .0 or .255. */
function withoutEdges({ first, last }: IpRange): readonly IpRange[] {
  const ranges: IpRange[] = []
  for (let block = first & ~255n; block <= last && ranges.length <= MOST_RANGES; block += 256n) {
    const from = first > block + 1n ? first : block + 1n
    const to = last < block + 254n ? last : block + 254n
    if (from <= to) ranges.push({ version: 4, first: from, last: to })
  }
  return ranges
}

/**
 * In the narrowest subnet in which each address can be given out, at most as long as the aggregate that is announced for
 * it. Those who gave out an address that ends a narrower subnet, such as 192.0.2.240 of a /28, did not ask for its subnet.
 */
export function poolSpec(
  { version, ranges }: Pick<ConvertedPool, 'version' | 'ranges'>,
  longest: number,
): AddressPoolSpec {
  const first = ranges.reduce((least, range) => (range.first < least ? range.first : least), ranges[0]?.first ?? 0n)
  const last = ranges.reduce((most, range) => (range.last > most ? range.last : most), 0n)
  const bits = ipBits(version)
  const common = bits - (first ^ last).toString(2).replace(/^0$/, '').length
  const around = (prefix: number): Cidr => {
    const base = (first >> BigInt(bits - prefix)) << BigInt(bits - prefix)
    return { version, base, prefix }
  }
  let subnet = around(Math.min(common, longest))
  while (subnet.prefix > 0 && endsOf(subnet).some((end) => ranges.some((range) => rangeContains(range, end))))
    subnet = around(subnet.prefix - 1)
  return {
    subnet: formatCidr(subnet),
    addresses: ranges.map(({ first: from, last: to }) => entryOf(version, from, to)),
  }
}

/** The remark about a subnet that was guessed. */
export const guessedSubnet = ({ subnet }: AddressPoolSpec): string =>
  `subnet ${subnet} is the narrowest in which each address can be given out: set it to that of the segment if they are on one`

function entryOf(version: 4 | 6, first: bigint, last: bigint): AddressPoolSpec['addresses'][number] {
  const size = last - first + 1n
  const isPrefix = (size & (size - 1n)) === 0n && first % size === 0n
  if (isPrefix)
    return { cidr: formatCidr({ version, base: first, prefix: ipBits(version) - (size.toString(2).length - 1) }) }
  return { first: formatIp({ version, value: first }), last: formatIp({ version, value: last }) }
}
