/**
 * The prefix lengths that a network which counts as one client may have, without those of single addresses. Nodes have
 * a packet-filter rule for each. An IPv6 client has at least a /64, and delegations end at a hexadecimal digit (RFC
 * 6177).
 */
export const IPV4_CLIENT_PREFIXES: readonly number[] = Array.from({ length: 31 }, (_, at) => at + 1)
export const IPV6_CLIENT_PREFIXES: readonly number[] = Array.from({ length: 16 }, (_, at) => 4 * (at + 1))
