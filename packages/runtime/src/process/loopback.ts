import { isIPv4 } from 'node:net'

/**
 * Whether a server that listens on this host (an address or a name, as in the settings) is reachable from its own
 * machine only. Names other than `localhost` and unusual spellings count as reachable from elsewhere: they may lead
 * anywhere.
 */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
