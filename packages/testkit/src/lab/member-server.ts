/**
 * What a member of the lab runs: HTTP on 8080 (answers its name, the client it saw and the headers that matter), TCP
 * echo on 9000 (prefixed once by its name), UDP echo on 9001. Run as `node member-server.ts NAME`.
 */
import dgram from 'node:dgram'
import http from 'node:http'
import net from 'node:net'

const name = process.argv[2] ?? 'member'

const httpServer = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-member': name })
    const {
      'x-forwarded-for': forwardedFor,
      'x-forwarded-port': forwardedPort,
      'x-forwarded-proto': forwardedProto,
    } = request.headers
    const from = request.socket.remoteAddress
    response.end(
      `${JSON.stringify({ member: name, from, path: request.url, forwardedFor, forwardedPort, forwardedProto })}\n`,
    )
  })
})
httpServer.listen(8080, '::')

net
  .createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(`${name}\n`)
    socket.pipe(socket)
  })
  .listen(9000, '::')

const udp = dgram.createSocket('udp6')
udp.on('message', (message, from) => udp.send(`${name} ${message.toString('utf8')}`, from.port, from.address))
udp.bind(9001, '::', () => process.stdout.write('ready\n'))
