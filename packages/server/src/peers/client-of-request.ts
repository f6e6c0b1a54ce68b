/**
 * The header in which a control plane names the client of a request that it passes on. It is believed on connections
 * whose other end has shown a control plane's certificate, and nowhere else.
 */
export const CLIENT_HEADER = 'spout-client'
