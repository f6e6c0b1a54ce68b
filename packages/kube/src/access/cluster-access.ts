import type { Secret } from '@spout/runtime'

/** How to reach an API server, and with which credentials. Certificates and keys are PEM. */
export interface ClusterAccess {
  /** `https://host:port`, with a path if the API is below one. `http` is for tests and local proxies. */
  readonly server: URL
  /** Null: the certificate authorities built into Node.js. */
  readonly ca: string | null
  /** The host name in the server's certificate; null when it is the URL's host. */
  readonly tlsServerName: string | null
  readonly skipTlsVerify: boolean
  readonly token: TokenSource | null
  readonly clientCertificate: ClientCertificate | null
  /** Default namespace. */
  readonly namespace: string
}

/** A token file is read again whenever it changes. */
export type TokenSource =
  | { readonly type: 'value'; readonly token: Secret<string> }
  | { readonly type: 'file'; readonly path: string }

export interface ClientCertificate {
  readonly certificate: string
  readonly key: Secret<string>
}

/** The settings are not usable. The message names the file and the field. */
export class AccessError extends Error {
  override readonly name = 'AccessError'
}
