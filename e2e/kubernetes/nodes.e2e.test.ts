import { documented, LONGEST_BUILD_MS, recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Clients } from '../kept-alive.ts'
import { type InClusterLab, startInClusterLab, WORKERS } from './in-cluster-lab.ts'
import { askPolitely } from './polite-client.ts'
import { startWorkload } from './workloads.ts'

// What Kubernetes says of a node that carries traffic moves its addresses in a planned way, and lets it take part again.
// With return path node, whose connections outlive the node that has the address.

let lab: InClusterLab
beforeAll(async () => {
  lab = await startInClusterLab()
  await lab.shell(
    "sed 's#image: spout:#image: registry.example.net/spout:#; s#returnSeconds: 30#returnSeconds: 2#; s#returnPath: snat#returnPath: node#' deploy/kubernetes/spout.yaml > nodes.yaml && kubectl apply --filename nodes.yaml",
  )
  await lab.allReady()
  await startWorkload(lab, { name: 'web', replicas: 4 })
  await lab.apply(documented('kubernetes-in-cluster.md', 'kind: AddressPool'))
  await lab.apply(documented('kubernetes-in-cluster.md', 'kind: Service'))
  await lab.answering('web')
}, LONGEST_BUILD_MS)
afterAll(() => lab?.destroy())

const deadlock = (node: string, status: 'True' | 'False') =>
  lab.cluster.api.patchByKey(`/api/v1/nodes/${node}/status`, {
    status: {
      conditions: [
        {
          ...{ type: 'KernelDeadlock', status, reason: 'DockerHung', message: 'as node-problem-detector says it' },
          lastTransitionTime: new Date().toISOString(),
        },
      ],
    },
  })
const EXCLUDE = 'node.kubernetes.io/exclude-from-external-load-balancers'

interface Reason {
  readonly name: string
  readonly begin: (node: string) => Promise<unknown>
  readonly end: (node: string) => Promise<unknown>
}
const LABEL: Reason = {
  name: 'the label that excludes it from load balancers',
  begin: (node) => lab.kubectl('label', 'node', node, `${EXCLUDE}=`),
  end: (node) => lab.kubectl('label', 'node', node, `${EXCLUDE}-`),
}
/** Each moves the address to the node that the one before it had moved it away from: that node takes part again. */
const REASONS: readonly Reason[] = [
  {
    name: 'a condition of node-problem-detector',
    begin: (node) => deadlock(node, 'True'),
    end: (node) => deadlock(node, 'False'),
  },
  LABEL,
  {
    name: 'a taint',
    begin: (node) => lab.kubectl('taint', 'node', node, 'node.kubernetes.io/out-of-service=repair:NoSchedule'),
    end: (node) => lab.kubectl('taint', 'node', node, 'node.kubernetes.io/out-of-service-'),
  },
]
const SILENCE: Reason = {
  name: 'the silence of its kubelet',
  begin: (node) => lab.cluster.node(node).stopKubelet(),
  end: (node) => lab.cluster.node(node).startKubelet(),
}

const otherThan = (node: string): string => WORKERS.find((name) => name !== node) ?? ''

/** The reason begins at the node that has the address, until the other has it. */
async function moves({ begin, end }: Reason, owner: string): Promise<void> {
  await begin(owner)
  await waitFor(async () => (await lab.announced('default/web'))?.owner === otherThan(owner), {
    what: `the address to move away from ${owner}`,
    timeoutMs: 120_000,
  })
  await end(owner)
}

async function movesUnderTraffic(reason: Reason): Promise<void> {
  const address = await lab.answering('web')
  const asking = askPolitely(lab.client, address)
  await asking.goesOn(20)
  await using clients = new Clients(lab, address)
  await clients.goOn()
  await moves(reason, await lab.owner('default/web'))
  await asking.goesOn(100)
  const { failed, count, longestMs } = await asking.stop()
  expect(failed).toEqual([])
  expect(await clients.goOn()).toMatchObject({ opened: 0, failures: [] })
  recordFault({
    fault: `in-cluster: a node is taken out of use by ${reason.name}`,
    outcome: 'its addresses move in a planned way; kept-alive connections go on; it takes part again afterwards',
    figure: `${failed.length} of ${count} requests failed, the longest took ${longestMs} ms`,
  })
}

describe('a node that carries traffic', () => {
  it.each(REASONS)(
    'hands its addresses over for $name, and no request fails',
    async (reason) => {
      await movesUnderTraffic(reason)
    },
    300_000,
  )

  it('hands them over when its kubelet is silent', async () => {
    // Kubernetes takes the control plane's own pod out of its Service, if it is on that node.
    const [control] = await lab.pods('control-plane')
    const home = control?.spec.nodeName ?? ''
    if ((await lab.owner('default/web')) === home) await moves(LABEL, home)
    await movesUnderTraffic(SILENCE)
  }, 300_000)

  it('keeps its addresses when it is cordoned, as long as the settings do not say otherwise', async () => {
    const owner = await lab.owner('default/web')
    const [pod] = await lab.pods('configuration')
    const log = () => lab.cluster.podLog(pod!, 'configuration')
    const before = log().length
    const said = (node: string, scheduling: string) =>
      waitFor(() => log().slice(before).includes(`"node":"${node}","scheduling":"${scheduling}"`), {
        what: `${node} to be ${scheduling}`,
        timeoutMs: 60_000,
      })
    await lab.kubectl('cordon', owner)
    await said(owner, 'cordoned')
    await LABEL.begin(otherThan(owner))
    await said(otherThan(owner), 'draining')
    expect(await lab.owner('default/web')).toBe(owner)
    expect(await lab.ask(await lab.answering('web'))).not.toBeNull()
  })
})
