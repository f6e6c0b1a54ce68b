/**
 * Serves EndpointSlices as an API server does: lists in pages, and one watch that reports each slice once when a line
 * on standard input asks for it. Ends with its standard input. Arguments: slices, endpoints of each.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

const [count = 0, endpoints = 0] = process.argv.slice(2).map(Number)
let version = 1000
const watches = new Set<ServerResponse>()

const address = (slice: number, index: number): string => `10.${slice >> 8}.${slice & 255}.${index + 1}`

/** With the other fields of a real one: about 3 kB for ten endpoints. */
const sliceOf = (slice: number, ready: boolean) => ({
  metadata: {
    name: `service-${slice}-x7k2p`,
    generateName: `service-${slice}-`,
    namespace: `team-${slice % 100}`,
    uid: `00000000-0000-4000-8000-${String(slice).padStart(12, '0')}`,
    resourceVersion: String(version),
    generation: 7,
    creationTimestamp: '2026-11-21T10:00:00Z',
    labels: {
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': `service-${slice}`,
    },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-11-21T10:00:00Z' },
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        name: `service-${slice}`,
        uid: `00000000-0000-4000-9000-${String(slice).padStart(12, '0')}`,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    managedFields: [
      {
        manager: 'kube-controller-manager',
        operation: 'Update',
        apiVersion: 'discovery.k8s.io/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:addressType': {}, 'f:endpoints': {}, 'f:ports': {} },
      },
    ],
  },
  addressType: 'IPv4',
  endpoints: Array.from({ length: endpoints }, (_, index) => ({
    addresses: [address(slice, index)],
    conditions: { ready, serving: ready, terminating: false },
    targetRef: {
      kind: 'Pod',
      namespace: `team-${slice % 100}`,
      name: `service-${slice}-7d8f9c6b5-${index}`,
      uid: `00000000-0000-4000-a000-${String(slice * 100 + index).padStart(12, '0')}`,
    },
    nodeName: `node-${(slice + index) % 500}`,
    zone: `zone-${index % 3}`,
  })),
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
})

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://slices')
  response.writeHead(200, { 'content-type': 'application/json' })
  if (url.pathname === '/api/v1/namespaces/kube-system') {
    response.end('{"metadata":{"name":"kube-system","uid":"one"}}')
    return
  }
  if (url.searchParams.has('watch')) {
    watches.add(response)
    response.on('close', () => watches.delete(response))
    response.flushHeaders()
    return
  }
  const from = Number(url.searchParams.get('continue') ?? 0)
  const to = Math.min(count, from + Number(url.searchParams.get('limit') ?? count))
  const items = Array.from({ length: to - from }, (_, index) => sliceOf(from + index, true))
  const metadata = { resourceVersion: String(version), ...(to < count ? { continue: String(to) } : {}) }
  response.end(JSON.stringify({ kind: 'EndpointSliceList', metadata, items }))
})
/** The one line on standard output. */
export interface ListeningLine {
  readonly port: number
}

server.listen(0, '127.0.0.1', () => {
  const line: ListeningLine = { port: (server.address() as AddressInfo).port }
  process.stdout.write(`${JSON.stringify(line)}\n`)
})

async function tellAll(): Promise<void> {
  while (watches.size === 0) await pause(5)
  for (let slice = 0; slice < count; slice++) {
    version++
    const line = `${JSON.stringify({ type: 'MODIFIED', object: sliceOf(slice, false) })}\n`
    for (const watch of watches)
      if (!watch.write(line)) await new Promise<void>((resolve) => watch.once('drain', () => resolve()))
  }
}
createInterface({ input: process.stdin })
  .on('line', () => void tellAll())
  .on('close', () => process.exit(0))
