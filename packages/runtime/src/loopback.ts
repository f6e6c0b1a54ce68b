import { isIPv4 } from 'node:net'

/**
 * Whether a server that listens on this host (an address or a name, as settings have it) is reached from its own machine
 * alone. A name other than `localhost` and an unusual spelling count as beyond it: nobody knows where they lead.
 */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
