import { documented, LONGEST_BUILD_MS, recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addEdge, EDGE, presentAt } from '../second-fabric.ts'
import { type InClusterLab, startInClusterLab } from './in-cluster-lab.ts'
import { askPolitely } from './polite-client.ts'
import { startWorkload } from './workloads.ts'

// A label moves a node between groups while it carries traffic. With return path node, whose connections outlive the node
// that has the address, and with the Service's pods on a node that stays in the group.

const EXCLUDE = 'node.kubernetes.io/exclude-from-external-load-balancers'
const [PODS, MOVING] = ['worker1', 'worker2'] as const
/** The interface of the nodes' own addresses. */
const OWN = 'data0'

let lab: InClusterLab
beforeAll(async () => {
  lab = await startInClusterLab()
  await lab.shell(
    "sed 's#image: spout:#image: registry.example.net/spout:#; s#returnSeconds: 30#returnSeconds: 2#; s#returnPath: snat#returnPath: node#; s#fabricCidrs: \\[\\]#fabricCidrs: [198.51.100.0/24, 192.0.2.0/24]#' deploy/kubernetes/spout.yaml > groups.yaml && kubectl apply --filename groups.yaml",
  )
  await lab.allReady()
  await startWorkload(lab, { name: 'web', replicas: 2, node: PODS })
  await lab.apply(documented('kubernetes-in-cluster.md', 'kind: AddressPool'))
  await lab.apply(documented('kubernetes-in-cluster.md', 'kind: Service'))
  await lab.answering('web')
  await lab.apply(documented('kubernetes-in-cluster.md', 'kind: NodeGroup'))
  await ownedBy(MOVING)
}, LONGEST_BUILD_MS)
afterAll(() => lab?.destroy())

interface NodeGroup {
  readonly status?: {
    readonly nodes?: { readonly total: number }
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[]
  }
}
/** The group of the page, with another name and interface. */
const outside = () =>
  `${documented('kubernetes-in-cluster.md', 'kind: NodeGroup').replaceAll('edge', 'outside').trimEnd()}\n  fabric:\n    interface: ${EDGE.interface}\n`
const group = (name: string) => lab.cluster.api.get<NodeGroup>(`/apis/spout.dev/v1alpha1/nodegroups/${name}`)
/** Waits until the group's selector has this effect. */
const selects = (name: string, reason: string, words: string) =>
  waitFor(
    async () => {
      const { status } = await group(name)
      const found = status?.conditions?.find(({ type }) => type === 'NodesSelected')
      return found?.reason === reason && found.message.includes(words)
    },
    { what: `NodeGroup ${name} to say ${reason}: ${words}`, timeoutMs: 60_000 },
  )
const label = (text: string) => lab.kubectl('label', 'node', MOVING, text)

/** Excludes the other node until this one has the address: one that is let in again before then keeps it. */
async function ownedBy(node: string): Promise<void> {
  const other = node === PODS ? MOVING : PODS
  const address = await lab.answering('web')
  await lab.kubectl('label', 'node', other, `${EXCLUDE}=`)
  await waitFor(async () => (await lab.announced('default/web'))?.owner === node, {
    what: `${node} to have the address`,
    timeoutMs: 60_000,
  })
  // The owner is shown when it is chosen. Its node takes the address a moment later.
  await waitFor(async () => (await presentAt(lab.lab, node, OWN)).addresses.includes(address), {
    what: `${node} to take the address on ${OWN}`,
  })
  await lab.kubectl('label', 'node', other, `${EXCLUDE}-`)
}

describe('a label', () => {
  it('moves a node that carries traffic into another group and back, and no request fails', async () => {
    const asking = askPolitely(lab.client, await lab.answering('web'))
    await asking.goesOn(20)
    expect(await lab.owner('default/web')).toBe(MOVING)
    await label('example.org/pool=edge')
    await selects('edge', 'Selected', `It selects ${MOVING}.`)
    // What the cluster shows of the owner comes a moment after the node has moved.
    await waitFor(async () => (await lab.owner('default/web')) === PODS, { what: `${PODS} to have the address` })
    await asking.goesOn(100)
    await label('example.org/pool-')
    await selects('edge', 'Selected', 'It selects no node.')
    await asking.goesOn(20)
    await ownedBy(MOVING)
    await asking.goesOn(100)
    const { failed, count, longestMs } = await asking.stop()
    expect(failed).toEqual([])
    recordFault({
      fault: 'in-cluster: a label moves the node that has the address into another group, and back',
      outcome: 'its addresses move in a planned way first; it takes part in each group',
      figure: `${failed.length} of ${count} requests failed, the longest took ${longestMs} ms`,
    })
  }, 300_000)

  it('moves it to a group that announces on another interface and back, and no request fails', async () => {
    await addEdge(lab.lab, [MOVING])
    await lab.apply(outside())
    const address = await lab.answering('web')
    await ownedBy(MOVING)
    const asking = askPolitely(lab.client, address)
    await asking.goesOn(20)
    await label('example.org/pool=outside')
    await selects('outside', 'Selected', `It selects ${MOVING}.`)
    await waitFor(async () => (await presentAt(lab.lab, MOVING, EDGE.interface)).rules > 0, {
      what: `the agent to work on ${EDGE.interface}`,
    })
    const { addresses, rules } = await presentAt(lab.lab, MOVING, OWN)
    expect([addresses.includes(address), rules]).toEqual([false, 0])
    await asking.goesOn(100)
    await label('example.org/pool-')
    await selects('outside', 'Selected', 'It selects no node.')
    await ownedBy(MOVING)
    await asking.goesOn(100)
    const { failed, count, longestMs } = await asking.stop()
    expect(failed).toEqual([])
    recordFault({
      fault: 'in-cluster: a label moves the node that has the address into a group with another interface, and back',
      outcome: 'its addresses move in a planned way first; nothing is left on the interface that it leaves',
      figure: `${failed.length} of ${count} requests failed, the longest took ${longestMs} ms`,
    })
  }, 300_000)

  it('leaves a node where it is if two groups select it, until one does', async () => {
    await lab.apply(documented('kubernetes-in-cluster.md', 'kind: NodeGroup').replace('name: edge', 'name: twin'))
    await selects('twin', 'Selected', 'It selects no node.')
    await label('example.org/pool=edge')
    const refusal = `${MOVING} is selected by edge and twin: it stays in default.`
    await selects('edge', 'SelectedTwice', refusal)
    await selects('twin', 'SelectedTwice', refusal)
    await lab.kubectl('delete', 'nodegroup', 'edge')
    await selects('twin', 'Selected', `It selects ${MOVING}.`)
  }, 300_000)

  it('names the group, whatever selects the node; a group that is deleted lets its nodes go first', async () => {
    await label('spout.dev/node-group=default')
    await selects('twin', 'Selected', 'It selects no node.')
    await label('spout.dev/node-group-')
    await selects('twin', 'Selected', `It selects ${MOVING}.`)
    await lab.kubectl('delete', 'nodegroup', 'twin', '--timeout=60s')
    await ownedBy(MOVING)
  }, 300_000)
})
