import { z } from 'zod'
import { hostText } from './route-condition.ts'

const WILDCARD = '*.'
/** For all of them together, with separators: nodes keep them in one line. */
const MOST_CHARACTERS = 8000

/** A host name, or `*.` and a domain for all names below it. */
const hostOrWildcard = z
  .string()
  .toLowerCase()
  .refine((text) => hostText.safeParse(text.startsWith(WILDCARD) ? text.slice(WILDCARD.length) : text).success, {
    message: 'is neither a host name nor *. and a domain',
  })

/**
 * Hosts that a listener keeps apart: a request whose host is, by the narrowest of these names, of another one than the
 * name that its connection asked for (SNI) gets 421 (RFC 9110 section 15.5.20). Hosts of none of these names are of one
 * together.
 */
export const separateHosts = z
  .array(hostOrWildcard)
  .min(1)
  .max(400)
  .refine((names) => new Set(names).size === names.length, { message: 'names a host twice' })
  .refine(areSeparable, { message: `has more than ${MOST_CHARACTERS} characters in all` })

/** Whether so many names can be kept apart. */
export function areSeparable(names: readonly string[]): boolean {
  return names.reduce((sum, { length }) => sum + length + 1, 0) <= MOST_CHARACTERS && names.length <= 400
}
