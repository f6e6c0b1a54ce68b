/**
 * Ownership records: a TXT record beside a record names its owner, in the format of external-dns's TXT registry
 * (sigs.k8s.io/external-dns, registry/txt). So neither external-dns nor Spout changes records of the other.
 */

export type AddressType = 'A' | 'AAAA'

const HERITAGE = 'heritage=external-dns'
const OWNER = 'external-dns/owner='

/** `a-shop.example.org` for the A records of `shop.example.org`. */
export const ownershipName = (name: string, type: AddressType): string => `${type.toLowerCase()}-${name}`

/** @param resource what the record is for */
export const ownershipText = (owner: string, resource: string): string =>
  [HERITAGE, `${OWNER}${owner}`, `external-dns/resource=${resource}`].join(',')

/** The owner that a TXT record names; null when it names none. external-dns may quote the text. */
export function ownerOf(text: string): string | null {
  const words = text.replace(/^"(.*)"$/, '$1').split(',')
  if (!words.includes(HERITAGE)) return null
  return words.find((word) => word.startsWith(OWNER))?.slice(OWNER.length) ?? null
}

/**
 * The name and type whose owner an ownership record of this name states. Null: it is not the name of an ownership
 * record.
 */
export function ownedBy(name: string): { readonly name: string; readonly type: AddressType } | null {
  const [, mark, owned = ''] = /^(a|aaaa)-(.+)$/.exec(name) ?? []
  return mark === undefined ? null : { name: owned, type: mark === 'a' ? 'A' : 'AAAA' }
}
