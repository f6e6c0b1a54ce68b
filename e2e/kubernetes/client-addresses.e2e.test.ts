import { documented, recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Clients } from '../kept-alive.ts'
import { type InClusterLab, startInClusterLab } from './in-cluster-lab.ts'
import { answersByClusterIp, answersToOnePort, OTHER_PROXIES, proxyRules, replaceProxies } from './kube-proxies.ts'
import { seenClients } from './seen-clients.ts'
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
    expect(await seenClients(lab, name)).toEqual(new Set(['203.0.113.10']))
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

  it.each(OTHER_PROXIES)('so it is, and connections go on, when kube-proxy becomes one of mode %s', async (mode) => {
    const address = await lab.answering('web')
    await using clients = new Clients(lab, address)
    await clients.idle()
    await clients.goOn()
    await replaceProxies(lab, mode)
    await clients.idle()
    const met = await clients.goOn()
    expect(met).toMatchObject({ opened: 0, failures: [] })
    for (const { name } of lab.cluster.nodes)
      await expect
        .poll(() => proxyRules(lab, name, address))
        .toEqual(mode === 'none' ? null : { haveAddress: true, dropInvalid: true })
    expect(await answersByClusterIp(lab, 'web')).toBe(mode !== 'none')

    for (const name of ['web', 'web-local']) expect(await seenClients(lab, name)).toEqual(new Set(['203.0.113.10']))
    expect(await answersToOnePort(lab, address)).toBe('10 of 10')
    recordFault({
      fault: `in-cluster, return path node: kube-proxy of mode ${mode === 'none' ? 'iptables is removed with its rules' : `nftables becomes one of mode ${mode}`}`,
      outcome: 'established connections go on, and pods see clients of new ones',
      figure: `${met.failures.length} of ${met.asked} requests failed, ${met.opened} connections opened anew`,
    })
  })
})
