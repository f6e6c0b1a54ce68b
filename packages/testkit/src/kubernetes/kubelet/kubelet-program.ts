/** The kubelet of one node: `node kubelet-program.ts CONFIG`, in the node's network namespace. */
import { readFileSync } from 'node:fs'
import type { KubeletConfig } from './config.ts'
import { Kubelet } from './kubelet.ts'

const [file = ''] = process.argv.slice(2)
const ended = new AbortController()
process.on('SIGTERM', () => ended.abort())
const kubelet = new Kubelet(JSON.parse(readFileSync(file, 'utf8')) as KubeletConfig)
const running = kubelet.run(ended.signal)
process.stdout.write('ready\n')
await running
process.exit(0)
