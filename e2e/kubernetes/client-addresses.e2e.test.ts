import { documented, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Clients } from '../kept-alive.ts'
import { type InClusterLab, startInClusterLab } from './in-cluster-lab.ts'
import { startWorkload } from './workloads.ts'

// Spout in the cluster that it serves, with return path node: pods see clients, and connections outlive the node that
// has the address.

let lab: InClusterLab
beforeAll(async () => {
  lab = await startInClusterLab()
}, 900_000)
afterAll(() => lab?.destroy())

const INSTALL =
  "sed 's#image: spout:#image: registry.example.net/spout:#; s#returnPath: snat#returnPath: node#' deploy/kubernetes/spout.yaml > node.yaml && kubectl apply --filename node.yaml"

const local = {
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web-local', namespace: 'default' } },
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    selector: { app: 'web' },
    ports: [{ name: 'http', port: 80, targetPort: 'http' }],
  },
}

/** What the pods of a Service see of one client, and which of them answered. */
async function seen(name: string, pods: readonly string[]): Promise<ReadonlySet<string>> {
  const address = await lab.answering(name)
  const clients = new Set<string>()
  const answered = new Set<string>()
  await waitFor(
    async () => {
      const answer = await lab.ask(address)
      if (answer !== null) {
        clients.add(answer.client.replace('::ffff:', ''))
        answered.add(answer.pod)
      }
      return answered.size === pods.length
    },
    { what: `every pod of ${name} to answer` },
  )
  return clients
}

describe('return path node in the cluster', () => {
  it.each(['web', 'web-local'])('pods on every node see the client of Service %s', async (name) => {
    if (name === 'web') {
      await lab.shell(INSTALL)
      await lab.allReady()
      await startWorkload(lab, { name: 'web', replicas: 4 })
      await lab.apply(documented('kubernetes-in-cluster.md', 'kind: AddressPool'))
      await lab.apply(documented('kubernetes-in-cluster.md', 'kind: Service'))
      await lab.apply(JSON.stringify(local))
    }
    const pods = (await lab.cluster.pods('app=web')).map(({ metadata }) => metadata.name)
    expect(await seen(name, pods)).toEqual(new Set(['203.0.113.10']))
  })

  it('established connections go on when the agent that has the address is replaced, and the address moves', async () => {
    const address = await lab.answering('web')
    await using clients = new Clients(lab, address)
    await clients.idle()
    await clients.goOn()
    const owner = await lab.owner('default/web')
    const agent = (await lab.pods('agent')).find(({ spec }) => spec.nodeName === owner)!
    await lab.cluster.api.delete(`/api/v1/namespaces/spout/pods/${agent.metadata.name}`)
    await waitFor(async () => (await lab.owner('default/web')) !== owner, {
      what: 'the address to move',
      timeoutMs: 60_000,
    })
    expect(await clients.tell()).toMatchObject({ opened: 0, failures: [] })
    await clients.idle()
    expect(await clients.goOn()).toMatchObject({ opened: 0, failures: [] })
  })
})
