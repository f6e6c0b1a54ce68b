/**
 * The program of the shop's cart. It serves gRPC over HTTP/2 without TLS on port 9000, and only the standard health
 * service (grpc.health.v1.Health/Check).
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
import http2 from 'node:http2'

const PORT = 9000
const CHECK = '/grpc.health.v1.Health/Check'
const UNIMPLEMENTED = 12

/** A message is a flag (0: not compressed), its length in four bytes and itself; SERVING is 1 in field 1. */
const SERVING = Buffer.from([0, 0, 0, 0, 2, 0x08, 1])

const server = http2.createServer()
server.on('stream', (stream: http2.ServerHttp2Stream, headers) => {
  const isKnown = headers[':path'] === CHECK
  const answer = { ':status': 200, 'content-type': 'application/grpc' }
  stream.on('error', () => {})
  stream.resume()
  stream.on('end', () => {
    // An answer without a message has its status in the headers.
    if (!isKnown) return stream.respond({ ...answer, 'grpc-status': UNIMPLEMENTED }, { endStream: true })
    stream.respond(answer, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }))
    stream.end(SERVING)
  })
})
server.listen(PORT, '::')
process.on('SIGTERM', () => process.exit(0))
