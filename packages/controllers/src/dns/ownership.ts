/**
 * The owner of a record is named by a TXT record beside it, in the format of external-dns's TXT registry
 * (sigs.k8s.io/external-dns, registry/txt). So neither of us changes records of the other.
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

/** The name and type whose owner a record of this name says; null if it is no such name. */
export function ownedBy(name: string): { readonly name: string; readonly type: AddressType } | null {
  const [, mark, owned = ''] = /^(a|aaaa)-(.+)$/.exec(name) ?? []
  return mark === undefined ? null : { name: owned, type: mark === 'a' ? 'A' : 'AAAA' }
}
