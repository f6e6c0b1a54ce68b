import { isIP } from 'node:net'
import { z } from 'zod'

const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):([0-9]{1,5})$/i
const LAST_PORT = 65_535

/**
 * An address, with a port as `192.0.2.53:5353` or `[2001:db8::53]:5353`. Never a name, which somebody would have to
 * resolve.
 */
export const resolverAddress = z
  .string()
  .max(64)
  .refine(isResolverAddress, 'is not an address such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353')

function isResolverAddress(text: string): boolean {
  if (isIP(text) !== 0) return true
  const [, v6, v4, port] = WITH_PORT.exec(text) ?? []
  const number = Number(port)
  return isIP(v6 ?? v4 ?? '') === (v6 === undefined ? 4 : 6) && number >= 1 && number <= LAST_PORT
}
