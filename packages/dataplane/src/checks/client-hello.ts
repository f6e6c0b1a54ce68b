/** The key exchanges offered: without the large post-quantum ones, so that the hello fits into one segment. */
const GROUPS = 'X25519:P-256:P-384:P-521'

let made: Promise<Uint8Array> | null = null

/**
 * A ClientHello (RFC 8446 section 4.1.2) as Node's TLS writes it, for TLS 1.0 to the newest version, since the check
 * asks whether TLS is spoken and not how well. It is created once and reused: no session is kept, and its private key
 * is discarded with the connection that wrote it. It names no server.
 */
export function clientHello(): Promise<Uint8Array> {
  made ??= write()
  return made
}

async function write(): Promise<Uint8Array> {
  // Loaded here, so that an agent without such checks does not load them.
  const [{ Duplex }, { connect }] = await Promise.all([import('node:stream'), import('node:tls')])
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const wire = new Duplex({
    read: () => {},
    write: (bytes: Uint8Array, _encoding, done) => {
      resolve(Uint8Array.from(bytes))
      done()
    },
  })
  const options = { socket: wire, ecdhCurve: GROUPS, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const connection = connect(options)
  connection.on('error', reject)
  try {
    return await promise
  } finally {
    connection.destroy()
    wire.destroy()
  }
}
