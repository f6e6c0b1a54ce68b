/** `10.0.0.11:8080`, or `[2001:db8::1]:8080`. */
export const endpointText = ({ address, port }: { readonly address: string; readonly port: number }): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
