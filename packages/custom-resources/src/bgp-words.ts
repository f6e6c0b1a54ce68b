import { z } from 'zod'

/**
 * An AS number as a schema can check it. A rule refuses reserved ones, because a schema cannot exclude single numbers.
 */
export const asn = z.int().min(1).max(4_294_967_294)

/** RFC 6793 (AS_TRANS) and RFC 7300; 0 and 4294967295 are outside the bounds. A CEL list. */
export const RESERVED_ASN = '[23456, 65535]'
