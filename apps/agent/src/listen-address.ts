/** Splits `address:port`, IPv6 in brackets, as the settings have validated it. */
export function listenAddress(listen: string): { readonly host: string; readonly port: number } {
  const at = listen.lastIndexOf(':')
  return { host: listen.slice(0, at).replace(/^\[(.*)\]$/, '$1'), port: Number(listen.slice(at + 1)) }
}
