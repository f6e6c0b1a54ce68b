/** The host of the lab: run as `node servers.ts` in its namespace, it prints a line when all ports of `PORTS` are open. */
import dgram from 'node:dgram'
import http from 'node:http'
import net from 'node:net'
import { PORTS } from './ports.ts'

const answering = (status: number): net.Server => http.createServer((_, response) => response.writeHead(status).end())

const talking = (serve: (socket: net.Socket) => unknown): net.Server =>
  net.createServer((socket) => {
    socket.on('error', () => socket.destroy())
    serve(socket)
  })

const servers: readonly (readonly [number, net.Server])[] = [
  [PORTS.ok, answering(200)],
  [PORTS.failing, answering(500)],
  [PORTS.mail, talking((socket) => socket.write('220 mail.example ESMTP\r\n'))],
  [PORTS.silent, talking(() => {})],
  [PORTS.resetting, talking((socket) => socket.once('data', () => socket.resetAndDestroy()))],
]
await Promise.all(
  servers.map(([port, server]) => new Promise<void>((resolve) => server.listen(port, '::', () => resolve()))),
)
// The same ports over UDP: the first answers, the others listen in silence.
await Promise.all(
  servers.map(([port]) => {
    const socket = dgram.createSocket('udp6')
    if (port === PORTS.ok) socket.on('message', (_, from) => socket.send('ok', from.port, from.address))
    return new Promise<void>((resolve) => socket.bind(port, '::', () => resolve()))
  }),
)
process.stdout.write('ready\n')
