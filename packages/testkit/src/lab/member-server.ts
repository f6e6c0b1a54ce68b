/**
 * The program of the lab's members: HTTP on 8080 (answers with its name, the client address and relevant headers), TCP
 * echo on 9000 (sends its name first), UDP echo on 9001. `GET /download?seconds=N` lasts that long, with a line every
 * 5 ms. Run as `node member-server.ts NAME`.
 */
import dgram from 'node:dgram'
import type { ServerResponse } from 'node:http'
import net from 'node:net'

// See `@spout/runtime/node-http`: an import takes 80 ms of the processor, and a lab has four members.
const http = process.getBuiltinModule('node:http')
const name = process.argv[2] ?? 'member'

const LINE_EVERY_MS = 5
const LONGEST_DOWNLOAD_S = 60

function download(seconds: number, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/plain', 'x-member': name })
  const lines = Math.round((Math.min(seconds, LONGEST_DOWNLOAD_S) * 1000) / LINE_EVERY_MS)
  let line = 0
  const began = performance.now()
  const timer = setInterval(() => {
    // On a busy machine a timer is late: what is due by now is written at once, so that it lasts no longer.
    const due = Math.min(lines, Math.floor((performance.now() - began) / LINE_EVERY_MS))
    while (line < due) response.write(`${name} ${++line} of ${lines}\n`)
    if (line >= lines) response.end()
    if (line >= lines || response.destroyed) clearInterval(timer)
  }, LINE_EVERY_MS)
}

const httpServer = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://member')
  if (pathname === '/download') return download(Number(searchParams.get('seconds') ?? 1), response)
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
