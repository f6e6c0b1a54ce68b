import { AddressSyntaxError, cidrToRange, type IpRange, parseCidr, parseIpRange } from '@spout/net'
import { type Converted, madeOf } from './convert.ts'
import { BadManifests, type Manifest, shown } from './manifest.ts'
import { guessedSubnet, poolSpec } from './pools.ts'
import { type Note, noteOf } from './source.ts'

/** Addresses in one object of another project that become a pool here. */
export interface ListedAddresses {
  readonly manifest: Manifest
  /** The field, for messages. */
  readonly field: string
  /** Prefixes, and ranges such as `198.51.100.10-198.51.100.20`. */
  readonly texts: readonly string[]
}

/**
 * One pool per family with the addresses. The second one, for IPv6, has the name with `-v6`.
 * @throws BadManifests for what is no address
 */
export function poolsOfAddresses(
  name: string,
  listed: readonly ListedAddresses[],
  notes: readonly Note[],
): readonly Converted[] {
  const ranges = listed.flatMap((one) => one.texts.map((text) => rangeOf(one, text)))
  const versions = ([4, 6] as const).filter((version) => ranges.some((range) => range.version === version))
  const from = [...new Set(listed.map(({ manifest }) => manifest))].map((manifest) => ({ manifest }))
  const [first] = from
  if (first === undefined) return []
  return versions.map((version, index) => {
    const own = { version, ranges: ranges.filter((range) => range.version === version) }
    const spec = poolSpec(own, 128)
    const guess = guessedSubnet(spec)
    const others = index === 0 ? notes : []
    return madeOf('AddressPool', index === 0 ? name : `${name}-v6`, spec, from, [...others, noteOf(first, null, guess)])
  })
}

function rangeOf({ manifest, field }: ListedAddresses, text: string): IpRange {
  try {
    return text.includes('-') ? parseIpRange(text) : cidrToRange(parseCidr(text, 'clear'))
  } catch (error) {
    if (!(error instanceof AddressSyntaxError)) throw error
    throw new BadManifests([`${manifest.where} (${shown(manifest.kind)} ${manifest.name}): ${field}: ${error.message}`])
  }
}
