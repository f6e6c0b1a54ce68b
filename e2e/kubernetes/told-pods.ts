import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Kubernetes } from '@spout/testkit'
import type { ServiceLab } from './service-lab.ts'

/** Ports of a pod whose servers want to be told of clients by the PROXY protocol, or show what they were told. */
export const TOLD = { http: 8090, bytes: 8091 } as const

/** It refuses connections that do not begin with a header, of either version, and answers with what that says. */
const HAPROXY = `
defaults
  mode http
  timeout client 10s
  timeout connect 5s
  timeout server 10s
frontend told
  bind :${TOLD.http} accept-proxy
  http-request return status 200 content-type text/plain lf-string "%[src] %[dst] %[dst_port]"
`
/** Answers with the first bytes that it got, as hexadecimal digits. */
const BYTES = `require('node:net').createServer((socket) => socket.on('error', () => {}).once('data', (bytes) => {
  const text = bytes.toString('hex')
  socket.end(['HTTP/1.1 200 OK', 'connection: close', 'content-length: ' + text.length, '', text].join('\\r\\n'))
})).listen(${TOLD.bytes}, () => console.log('ready'))`

/** Starts both servers beside the program of a pod. */
export async function startToldServers({ cluster, system: { lab } }: ServiceLab, pod: Kubernetes.Pod): Promise<void> {
  const place = cluster.podPlace(pod)
  const file = path.join(lab.directory, `told-${place}.cfg`)
  writeFileSync(file, HAPROXY)
  await lab.start(place, `told-${place}`, ['haproxy', '-db', '-f', file])
  await lab.start(place, `bytes-${place}`, [process.execPath, '-e', BYTES], { readyText: 'ready' })
}

/** A PROXY header as bytes that were received: its version, and the addresses and ports that it tells. */
export function headerIn(hex: string): string {
  const bytes = Buffer.from(hex, 'hex')
  const text = bytes.toString('latin1')
  if (text.startsWith('PROXY ')) return `v1 ${text.slice('PROXY '.length, text.indexOf('\r\n'))}`
  // Version 2 of a proxied connection (0x21), TCP over IPv4 (0x11).
  if (!hex.startsWith('0d0a0d0a000d0a515549540a2111')) return hex === '' ? 'nothing' : 'none'
  const address = (at: number) => [...bytes.subarray(at, at + 4)].join('.')
  return `v2 TCP4 ${address(16)} ${address(20)} ${bytes.readUInt16BE(24)} ${bytes.readUInt16BE(26)}`
}
