import { randomBytes } from 'node:crypto'

/**
 * New random text that is safe in URLs, headers and command lines: letters, digits, `_` and `-`. It never starts with a
 * hyphen, because programs take that for an option: `openstack token revoke -Yv…` finds no token.
 *
 * @param bytes of randomness; excluding the hyphen costs 0.02 bits of them
 */
export function randomSecret(bytes: number): string {
  for (;;) {
    const text = randomBytes(bytes).toString('base64url')
    if (!text.startsWith('-')) return text
  }
}
