/** As the kernel and the wire number them (IANA, Assigned Internet Protocol Numbers). */
export const PROTOCOL_NUMBERS = { icmp: 1, tcp: 6, udp: 17, sctp: 132 } as const

/** What services speak. */
export type Transport = Exclude<keyof typeof PROTOCOL_NUMBERS, 'icmp'>
