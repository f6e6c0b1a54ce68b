import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { domainEntry, loadBalancerEntry, memberEntry, putLine } from './src/testing/index.ts'
const N = 30000
const slots = { size: 64 as const, table: Buffer.alloc(128, 1).toString('base64') }
const out = createWriteStream('/tmp/spt-lines.ndjson')
for (let d = 1; d <= 300; d++) out.write(JSON.stringify(putLine(domainEntry(d))) + '\n')
for (let i = 0; i < N; i++) { const id = randomUUID(); const e = loadBalancerEntry(id, { generation: 1, domain: 1 + (i % 300), vips: [{ address: `198.${18 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`, scope: 'fabric', announce: i % 2 === 0 }] })
  out.write(JSON.stringify(putLine({ ...e, services: [{ ...e.services[0]!, id: id.replace(/^./, 'a') }], pools: [{ id: id.replace(/^./, 'b'), number: i + 1, mode: 'l4' as const, algorithm: 'round-robin' as const, sourceAffinity: false, proxyProtocol: 'none' as const, members: [0, 1, 2].map((m) => memberEntry(id.replace(/^./, String(m)), `10.0.1.${m + 1}`)), slots, check: null, panicThreshold: 0 }] })) + '\n') }
out.end(JSON.stringify({ type: 'synced' }) + '\n')
