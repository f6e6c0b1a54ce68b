import { execFile } from 'node:child_process'
import { connect, type DetailedPeerCertificate } from 'node:tls'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What a TLS handshake came to. */
export type Handshake =
  | {
      readonly names: string
      readonly protocol: string | null
      readonly alpn: string | false | null
      readonly fingerprint: string
    }
  | { readonly alert: string }

interface To {
  readonly host: string
  readonly port: number
}

/** A handshake with this name (SNI), by `node:tls`. @param name null names none */
export const shake = (
  { host, port }: To,
  name: string | null,
  { alpn, maxVersion }: { readonly alpn?: string[]; readonly maxVersion?: 'TLSv1.2' | 'TLSv1.1' } = {},
): Promise<Handshake> =>
  new Promise((resolve) => {
    const socket = connect({
      ...{ host, port, rejectUnauthorized: false },
      ...(name === null ? {} : { servername: name }),
      ...(alpn === undefined ? {} : { ALPNProtocols: alpn }),
      ...(maxVersion === undefined ? {} : { maxVersion, minVersion: 'TLSv1' }),
    })
    socket.setTimeout(30_000, () => socket.destroy(new Error('no handshake')))
    socket.on('secureConnect', () => {
      const peer: DetailedPeerCertificate = socket.getPeerCertificate(true)
      resolve({
        names: peer.subjectaltname ?? '',
        protocol: socket.getProtocol(),
        alpn: socket.alpnProtocol,
        fingerprint: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
      })
      socket.destroy()
    })
    socket.on('error', (error) => resolve({ alert: error.message }))
  })

/** A request by curl, which checks the certificate against this authority. */
export async function curl(
  to: To,
  name: string,
  authority: string,
  ...flags: readonly string[]
): Promise<{ readonly status: number; readonly version: string }> {
  const { stdout } = await run('curl', [
    ...['--silent', '--show-error', '--max-time', '5', '--output', '/dev/null', '--cacert', authority],
    ...['--write-out', '%{http_code} %{http_version}', '--resolve', `${name}:${to.port}:${to.host}`],
    ...flags,
    `https://${name}:${to.port}/`,
  ])
  const [status, version = ''] = stdout.split(' ')
  return { status: Number(status), version }
}

/** What `openssl s_client` says of the server's certificate, or the alert it got. */
export async function sClient({ host, port }: To, name: string, ...flags: readonly string[]): Promise<string> {
  try {
    const to = ['-connect', `${host}:${port}`, '-servername', name]
    const running = run('openssl', ['s_client', ...to, ...flags], { timeout: 30_000 })
    // At the end of its input it leaves after the handshake.
    running.child.stdin?.end()
    const { stdout, stderr } = await running
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string }
    return stdout + stderr
  }
}
