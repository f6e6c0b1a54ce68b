/**
 * Keeps the EndpointSlices of a server in memory, trimmed to what balancing needs. Arguments: the server's port and the
 * number of slices. Prints one JSON line when they are listed and one when a change of each was reported.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { byLabel, ENDPOINT_SLICES, type EndpointSlice, Reflector, SERVICE_NAME_LABEL, Transport } from '@spout/kube'
import { silentLogger } from '@spout/runtime'

const [port = '', expected = '0'] = process.argv.slice(2)
/** Until garbage is collected, and the allocator has returned what it does not need. */
const SETTLE_MS = 2000

const memory = (field: string): number =>
  Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024
const settled = async () => {
  globalThis.gc?.()
  await pause(SETTLE_MS)
  return memory('VmRSS')
}

const transport = new Transport({
  access: {
    server: new URL(`http://127.0.0.1:${port}`),
    ca: null,
    tlsServerName: null,
    skipTlsVerify: false,
    token: null,
    clientCertificate: null,
    namespace: 'default',
  },
})
const trim = ({ addressType, endpoints, ports }: EndpointSlice) => ({
  addressType,
  ports: (ports ?? []).map(({ name = '', protocol = 'TCP', port = 0 }) => ({ name, protocol, port })),
  endpoints: (endpoints ?? []).map(({ addresses, conditions, nodeName, zone }) => ({
    address: addresses[0] ?? '',
    ready: conditions?.ready ?? true,
    serving: conditions?.serving ?? true,
    terminating: conditions?.terminating ?? false,
    nodeName,
    zone,
  })),
})

/** Resident memory in MB; the peak is that of the process so far. */
export interface ReflectLine {
  readonly what: 'listed' | 'changed'
  readonly ms: number
  readonly baseMb: number
  readonly peakMb: number
  readonly settledMb: number
  readonly heapMb: number
  readonly objects: number
  /** Data received from the server. */
  readonly receivedMb: number
}

const baseMb = await settled()
const startedMs = performance.now()
const reflector = new Reflector({
  transport,
  log: silentLogger(),
  resource: ENDPOINT_SLICES,
  trim,
  indexes: { service: byLabel(SERVICE_NAME_LABEL) },
}).start()
await reflector.synced
const listMs = performance.now() - startedMs
const report = async (what: ReflectLine['what'], ms: number) => {
  const peakMb = memory('VmHWM')
  const line: ReflectLine = {
    what,
    ms,
    baseMb,
    peakMb,
    settledMb: await settled(),
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
    objects: reflector.size,
    receivedMb: reflector.counters.bytes / 2 ** 20,
  }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
await report('listed', listMs)

let changes = 0
let firstMs = 0
const all = Promise.withResolvers<void>()
reflector.onChange(() => {
  if (changes++ === 0) firstMs = performance.now()
  if (changes === Number(expected)) all.resolve()
})
await all.promise
await report('changed', performance.now() - firstMs)
await reflector.close()
transport.close()
