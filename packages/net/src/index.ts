/**
 * Addresses as values: parse, print, contain, split. Pure, on bigint.
 *
 * This is the only parser of addresses in Spout: library parsers accept `010.0.0.1` or `0x0a000001`, and two parsers
 * that disagree are a way around an allow list. It never does I/O and knows no domain words.
 */
export * from './cidr.ts'
export * from './endpoint.ts'
export * from './ip.ts'
export * from './ip-range.ts'
export * from './mac.ts'
export * from './port-range.ts'
export * from './special.ts'
