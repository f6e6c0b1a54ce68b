/** A host as it stands in a URL or before a port: an IPv6 address in brackets (RFC 3986, section 3.2.2), others as they are. */
export const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

interface Endpoint {
  readonly address: string
  readonly port: number | string
}

/** `10.0.0.11:8080`, or `[2001:db8::1]:8080`. */
export const endpointText = ({ address, port }: Endpoint): string => `${bracketed(address)}:${port}`
