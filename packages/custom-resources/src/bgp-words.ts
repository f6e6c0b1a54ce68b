import { z } from 'zod'

/** An AS number as the server can check it. A rule refuses the reserved ones: a schema cannot leave out single numbers. */
export const asn = z.int().min(1).max(4_294_967_294)

/** RFC 6793 (AS_TRANS) and RFC 7300; 0 and 4294967295 are out of bounds. A list in CEL. */
export const RESERVED_ASN = '[23456, 65535]'
