import { z } from 'zod'
import { hostText } from './route-condition.ts'

const WILDCARD = '*.'
/** Limit of all names together, with separators: nodes keep them in one line. */
const MOST_CHARACTERS = 8000

/** A host name, or `*.` and a domain for all names below it. */
const hostOrWildcard = z
  .string()
  .toLowerCase()
  .refine((text) => hostText.safeParse(text.startsWith(WILDCARD) ? text.slice(WILDCARD.length) : text).success, {
    message: 'is neither a host name nor *. and a domain',
  })

/**
 * Hosts that a listener keeps apart. Each host belongs to the narrowest of these names that covers it; hosts that none
 * covers belong together. A request gets 421 (RFC 9110 section 15.5.20) if its host and the server name (SNI) of its
 * connection belong to different names.
 */
export const separateHosts = z
  .array(hostOrWildcard)
  .min(1)
  .max(400)
  .refine((names) => new Set(names).size === names.length, { message: 'names a host twice' })
  .refine(areSeparable, { message: `has more than ${MOST_CHARACTERS} characters in all` })

/** Whether these names are within the limits. */
export function areSeparable(names: readonly string[]): boolean {
  return names.reduce((sum, { length }) => sum + length + 1, 0) <= MOST_CHARACTERS && names.length <= 400
}
