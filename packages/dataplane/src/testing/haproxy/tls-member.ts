import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Issued } from '@spout/testkit'
import { type LabMember, MEMBER_ADDRESS } from './proxy-lab.ts'

/** What a `tlsMember` saw of the connection, and answers as JSON. */
export interface SeenByMember {
  readonly member: string
  /** The name that was asked for (SNI); null for none. */
  readonly name: string | null
  readonly version: string
  /** The common name of the certificate that the proxy showed; null for none. */
  readonly client: string | null
  readonly tls: string
  /** OpenSSL's name of the cipher that was agreed upon. */
  readonly cipher: string
  /** Whether an earlier session was resumed. */
  readonly resumed: boolean
}

/**
 * A member that speaks HTTP/2 and HTTP/1.1 over TLS, and answers with `SeenByMember`.
 * @param clientAuthority asks for a certificate, and refuses one that is not of this authority
 * @param maxVersion the highest version of TLS that it speaks
 */
export async function tlsMember(
  name: string,
  { certificate, key }: Issued,
  clientAuthority: Issued | null = null,
  maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3',
): Promise<LabMember> {
  let [count, connections] = [0, 0]
  const server = http2.createSecureServer(
    {
      ...{ cert: certificate, key, allowHTTP1: true, maxVersion },
      ...(clientAuthority === null
        ? {}
        : { ca: clientAuthority.certificate, requestCert: true, rejectUnauthorized: true }),
    },
    (request, response) => {
      count++
      const socket = (request.stream?.session?.socket ?? request.socket) as TLSSocket & { readonly servername?: string }
      const seen: SeenByMember = {
        member: name,
        name: typeof socket.servername === 'string' ? socket.servername : null,
        version: request.httpVersion,
        client: [socket.getPeerCertificate()?.subject?.CN ?? []].flat()[0] ?? null,
        tls: socket.getProtocol() ?? '',
        cipher: socket.getCipher().name,
        resumed: socket.isSessionReused(),
      }
      response.end(JSON.stringify(seen))
    },
  )
  server.on('tlsClientError', () => {})
  server.on('sessionError', () => {})
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, MEMBER_ADDRESS)
  await once(server, 'listening')
  return {
    name,
    port: (server.address() as AddressInfo).port,
    count: () => count,
    connections: () => connections,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
