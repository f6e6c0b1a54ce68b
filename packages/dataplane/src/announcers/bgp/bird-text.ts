import { canonicalIp, isIp } from '@spout/net'

/** Strings of BIRD 2.0 have no escapes, so they cannot contain quotes or control characters. */
const SAYABLE = /^[\x20\x21\x23-\x7e]*$/

/** A value that is not valid in a configuration. Names the field and the reason. */
export class BgpSettingsError extends Error {
  override readonly name = 'BgpSettingsError'
  readonly field: string

  constructor(field: string, reason: string) {
    super(`${field} ${reason}`)
    this.field = field
  }
}

/** The only function that writes quoted text. The error never repeats the value, which may be a secret. */
export function quoted(field: string, value: string): string {
  if (!SAYABLE.test(value))
    throw new BgpSettingsError(field, 'contains a quotation mark or a character that is not printable ASCII')
  return `"${value}"`
}

export function numberText(field: string, value: number, first: number, last: number): string {
  if (!Number.isInteger(value) || value < first || value > last)
    throw new BgpSettingsError(field, `is not a whole number from ${first} to ${last}`)
  return String(value)
}

export function addressText(field: string, value: string): string {
  if (!isIp(value)) throw new BgpSettingsError(field, 'is not an IP address')
  return canonicalIp(value)
}

/** A BIRD community: `(64512,5)` or, large, `(64512,1,5)`. */
export function communityText(field: string, value: string): { readonly large: boolean; readonly text: string } {
  const parts = value.split(':')
  const large = parts.length === 3
  if ((!large && parts.length !== 2) || !parts.every((part) => /^(0|[1-9][0-9]{0,9})$/.test(part)))
    throw new BgpSettingsError(field, 'is not AS:VALUE or AS:VALUE:VALUE')
  const last = large ? 0xffff_ffff : 0xffff
  const numbers = parts.map((part) => numberText(field, Number(part), 0, last))
  return { large, text: `(${numbers.join(',')})` }
}

/**
 * A symbol of a configuration, made from an id of ours. The same id gives the same symbol, so that a session survives
 * reconfiguration.
 */
export function peerSymbol(field: string, id: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,47}$/.test(id))
    throw new BgpSettingsError(field, 'is not made of up to 48 letters, digits and hyphens')
  return `peer_${id.replaceAll('-', '_')}`
}
