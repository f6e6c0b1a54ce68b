import { mkdtemp, rm } from 'node:fs/promises'
import { createReadStream, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { LineSplitter } from '@spout/client/ndjson'
import { silentLogger, systemClock } from '@spout/runtime'
import { NodeAgent } from './src/node-agent.ts'
import { RecordedAnnouncer, RecordedDomains, RecordedDriver, RecordedNode } from './src/testing/index.ts'
const dir = await mkdtemp(tmpdir() + '/spt-bench-')
const mb = () => { globalThis.gc?.(); globalThis.gc?.(); const m = process.memoryUsage(); return [m.rss, m.heapUsed, m.heapTotal].map((x) => Math.round(x / 1048576)).join('/') + ' anon ' + Math.round(Number(/Anonymous:\s+(\d+)/.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))![1]) / 1024) }
const link = { state: async function* () { const splitter = new LineSplitter(); for await (const chunk of createReadStream('/tmp/spt-lines.ndjson')) yield splitter.push(chunk as Buffer).map((l) => JSON.parse(l)); await new Promise(() => {}) },
  report: async () => ({ resend: false }), renew: async () => { throw new Error() }, close() {} }
console.log('imports', mb())
const node = new RecordedNode()
const start = async () => { const t = performance.now(); const agent = new NodeAgent({ session: 's', stateFile: dir + '/j', link: () => link as any, domains: new RecordedDomains(node), drivers: [new RecordedDriver(node)], announcer: new RecordedAnnouncer(node), checks: [], clock: systemClock, random: Math.random, log: silentLogger(), observeEveryMs: 60000 }); await agent.start(); console.log('start', Math.round(performance.now() - t)); return agent }
let agent = await start()
const t0 = performance.now()
while (node.programmed.size < 30000) await new Promise((r) => setTimeout(r, 5))
await agent.idle()
console.log('cold', Math.round(performance.now() - t0), 'ms', mb()); node.take()
if (process.argv[2]) { await new Promise((r) => setTimeout(r, 3000)); console.log('later', mb()) }
process.exit(0)
