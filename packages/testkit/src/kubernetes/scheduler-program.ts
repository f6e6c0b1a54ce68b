/** Binds pods that have no node yet: `node scheduler-program.ts ACCESS`, a file with a `KubernetesAccess`. */
import { readFileSync } from 'node:fs'
import { follow, type KubernetesAccess, KubernetesApi } from './api.ts'
import type { Node, Pod } from './objects.ts'
import { chooseNode } from './scheduling.ts'

const [file = ''] = process.argv.slice(2)
const api = new KubernetesApi(JSON.parse(readFileSync(file, 'utf8')) as KubernetesAccess)
const ended = new AbortController()
process.on('SIGTERM', () => ended.abort())

const nodes = new Map<string, Node>()
const waiting = new Map<string, Pod>()
const binding = new Set<string>()
let last = ''

function schedule(): void {
  for (const [uid, pod] of waiting) {
    if (binding.has(uid)) continue
    const node = chooseNode(pod, [...nodes.values()], last)
    if (node === null) continue
    last = node
    binding.add(uid)
    void bind(pod, node).finally(() => binding.delete(uid))
  }
}

async function bind({ metadata }: Pod, node: string): Promise<void> {
  const target = { apiVersion: 'v1', kind: 'Node', name: node }
  try {
    await api.create(`/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: metadata.name, uid: metadata.uid },
      target,
    })
    waiting.delete(metadata.uid ?? '')
  } catch {
    // Gone, bound by another scheduler, or the server is away: the next pass shows it.
  }
}

const pods = follow<Pod>(
  api,
  '/api/v1/pods?fieldSelector=spec.nodeName%3D',
  {
    changed: (pod) => {
      if (pod.metadata.deletionTimestamp !== undefined) waiting.delete(pod.metadata.uid ?? '')
      else waiting.set(pod.metadata.uid ?? '', pod)
      schedule()
    },
    gone: (pod) => waiting.delete(pod.metadata.uid ?? ''),
  },
  ended.signal,
)
const knownNodes = follow<Node>(
  api,
  '/api/v1/nodes',
  {
    changed: (node) => {
      nodes.set(node.metadata.name, node)
      schedule()
    },
    gone: (node) => nodes.delete(node.metadata.name),
  },
  ended.signal,
)
// A binding that failed is tried again even when nothing changes.
const again = setInterval(schedule, 500)
process.stdout.write('ready\n')
await Promise.all([pods, knownNodes])
clearInterval(again)
process.exit(0)
