import { z } from 'zod'
import { IPV4_CLIENT_PREFIXES, IPV6_CLIENT_PREFIXES } from './client-prefixes.ts'

const prefixOf = (lengths: readonly number[], whole: number, words: string) =>
  z
    .number()
    .refine((prefix) => prefix === whole || lengths.includes(prefix), { message: `must be ${words}` })
    .optional()

/**
 * Prefix lengths of the networks whose addresses count as one client. Absent, or 32 and 128: each address of that
 * family is a client.
 */
export const clientNetworks = z
  .strictObject({
    ipv4Prefix: prefixOf(IPV4_CLIENT_PREFIXES, 32, 'a number from 1 to 32'),
    ipv6Prefix: prefixOf(IPV6_CLIENT_PREFIXES, 128, 'a multiple of 4 from 4 to 64, or 128'),
  })
  .refine(({ ipv4Prefix, ipv6Prefix }) => ipv4Prefix !== undefined || ipv6Prefix !== undefined, {
    message: 'must name ipv4Prefix or ipv6Prefix',
  })
export type ClientNetworks = z.infer<typeof clientNetworks>
