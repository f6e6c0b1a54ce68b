import { z } from 'zod'

/**
 * The schema of an AS number. A rule refuses reserved numbers, because a schema cannot exclude single values.
 */
export const asn = z.int().min(1).max(4_294_967_294)

/** Reserved AS numbers as a CEL list: RFC 6793 (AS_TRANS) and RFC 7300. 0 and 4294967295 are outside of the bounds. */
export const RESERVED_ASN = '[23456, 65535]'
