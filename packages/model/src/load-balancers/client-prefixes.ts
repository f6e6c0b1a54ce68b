/**
 * Prefix lengths, but those of whole addresses, of the networks whose clients can be one client. Nodes have a rule for each. In IPv6 a client has a /64
 * at least, and delegations end at a hexadecimal digit (RFC 6177).
 */
export const IPV4_CLIENT_PREFIXES: readonly number[] = Array.from({ length: 31 }, (_, at) => at + 1)
export const IPV6_CLIENT_PREFIXES: readonly number[] = Array.from({ length: 16 }, (_, at) => 4 * (at + 1))
