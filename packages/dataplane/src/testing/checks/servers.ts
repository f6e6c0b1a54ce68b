/**
 * The host of the lab: run as `node servers.ts` in its namespace, it prints a line when all ports of `PORTS` are open.
 */
import { execFileSync } from 'node:child_process'
import dgram from 'node:dgram'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { http } from '@spout/runtime/node-http'
import { NAME, PORTS } from './ports.ts'

const answering = (status: number): net.Server => http.createServer((_, response) => response.writeHead(status).end())

const talking = (serve: (socket: net.Socket) => unknown): net.Server =>
  net.createServer((socket) => {
    socket.on('error', () => socket.destroy())
    serve(socket)
  })

/** A key and a certificate that nobody vouches for, in one PEM text. */
const pem = execFileSync(
  'openssl',
  [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=member',
    '-keyout',
    '-',
  ],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
)

const secure = (options: tls.TlsOptions): net.Server => {
  const server = tls.createServer(options, (socket) => socket.on('error', () => socket.destroy()))
  return server.on('tlsClientError', (_, socket) => socket.destroy())
}

const answeringOverTls = (status: number, options: tls.TlsOptions = {}): net.Server => {
  const server = https.createServer({ key: pem, cert: pem, ...options }, (_, response) =>
    response.writeHead(status).end(),
  )
  return server.on('tlsClientError', (_, socket) => socket.destroy())
}

const named = https
  .createServer(
    {
      key: pem,
      cert: pem,
      SNICallback: (name, done) =>
        done(name === NAME ? null : new Error('another server'), tls.createSecureContext({ key: pem, cert: pem })),
    },
    ({ headers, httpVersion, method, socket, url }, response) => {
      const asked = `${method} ${url} ${httpVersion} ${headers.host}` === `HEAD /up 1.1 ${NAME}`
      response.writeHead(asked && (socket as tls.TLSSocket).servername === NAME ? 200 : 404).end()
    },
  )
  .on('tlsClientError', (_, socket) => socket.destroy())

/** HelloRequest, over and over, as fast as the other side reads. */
const endless = (socket: net.Socket): void => {
  const records = Buffer.concat(Array.from({ length: 1_000 }, () => Buffer.from('160303000400000000', 'hex')))
  const write = () => {
    while (socket.write(records));
  }
  socket.on('drain', write)
  write()
}

const servers: readonly (readonly [number, net.Server])[] = [
  [PORTS.ok, answering(200)],
  [PORTS.failing, answering(500)],
  [PORTS.mail, talking((socket) => socket.write('220 mail.example ESMTP\r\n'))],
  [PORTS.silent, talking(() => {})],
  [PORTS.resetting, talking((socket) => socket.once('data', () => socket.resetAndDestroy()))],
  [PORTS.tls, secure({ key: pem, cert: pem })],
  [
    PORTS.oldTls,
    secure({ key: pem, cert: pem, minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  ],
  [PORTS.refusingTls, secure({})],
  [PORTS.endlessTls, talking(endless)],
  [PORTS.haltingTls, talking((socket) => socket.write(Buffer.from('160303', 'hex')))],
  [PORTS.okOverTls, answeringOverTls(200)],
  [PORTS.failingOverTls, answeringOverTls(500, { maxVersion: 'TLSv1.2' })],
  [PORTS.clientsOverTls, answeringOverTls(200, { requestCert: true })],
  [PORTS.named, named],
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
