import type { Secret } from '@spout/runtime'

/** How to reach an API server and as whom. Certificates and keys are PEM. */
export interface ClusterAccess {
  /** `https://host:port`, perhaps with a path below which the API lies. `http` is for tests and local proxies. */
  readonly server: URL
  /** Null: the authorities that Node.js knows. */
  readonly ca: string | null
  /** What the server's certificate is checked against, when it is not the URL's host. */
  readonly tlsServerName: string | null
  readonly skipTlsVerify: boolean
  readonly token: TokenSource | null
  readonly clientCertificate: ClientCertificate | null
  /** The namespace meant where none is said. */
  readonly namespace: string
}

/** A file's token is read again whenever the file changes. */
export type TokenSource =
  | { readonly type: 'value'; readonly token: Secret<string> }
  | { readonly type: 'file'; readonly path: string }

export interface ClientCertificate {
  readonly certificate: string
  readonly key: Secret<string>
}

/** Access cannot be had from what was given; the message names the file and the field. */
export class AccessError extends Error {
  override readonly name = 'AccessError'
}
