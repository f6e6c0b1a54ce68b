import { randomBytes } from 'node:crypto'

/**
 * New random text that is safe in URLs, headers and on command lines: letters, digits, `_` and `-`, the first of them no
 * hyphen. With one, programs take it for an option: `openstack token revoke -Yv…` finds no token given.
 *
 * @param bytes how many random bytes are in it; what is left out costs 0.02 bits of them
 */
export function randomSecret(bytes: number): string {
  for (;;) {
    const text = randomBytes(bytes).toString('base64url')
    if (!text.startsWith('-')) return text
  }
}
