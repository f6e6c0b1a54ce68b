/**
 * A client of an authoritative name server: queries, dynamic updates (RFC 2136) and zone transfers, each signed by TSIG
 * (RFC 8945), over TCP; and questions for TXT records to recursive resolvers. It knows nothing of load balancers.
 */

export { type DnsRecord, TYPES, type TypeName } from './message.ts'
export { DnsFailure, NameServer, type ServerAddress, type Update } from './name-server.ts'
export { addressOf, textOf } from './record-data.ts'
export { absent, addressRecord, removal, removalOf, same, textRecord } from './records.ts'
export { type TextAnswer, TextResolver, type TextResolverOptions } from './text-resolver.ts'
export { TSIG_ALGORITHMS, type TsigAlgorithm, type TsigKey } from './tsig.ts'
