import { LONGEST_BUILD_MS, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENT } from '../fixtures.ts'
import { type CloudProviderLab, startCloudProviderLab } from './cloud-provider-lab.ts'
import { startWorkload } from './workloads.ts'

const WORKERS = ['10.0.0.32', '10.0.0.33']
const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers'
const INTERNAL = 'service.beta.kubernetes.io/openstack-internal-load-balancer'
const HTTP = { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }

let lab: CloudProviderLab
beforeAll(async () => {
  lab = await startCloudProviderLab()
  await startWorkload(lab, { name: 'web', replicas: 2 })
  await startWorkload(lab, { name: 'single', replicas: 1, node: 'worker1' })
}, LONGEST_BUILD_MS)
afterAll(() => lab?.destroy())

/** The members of the Service's first pool, with what is known of each, such as `10.0.0.32 up`. */
async function members(name: string): Promise<readonly string[]> {
  const lb = await lab.loadBalancerOf(name)
  return (lb?.pools[0]?.members ?? [])
    .map(({ id, address }) => `${address} ${lb?.status.members[id]?.health ?? '-'}`)
    .sort()
}

const reaches = (name: string, wanted: readonly string[]) =>
  waitFor(async () => (await members(name)).join() === wanted.join(), {
    what: `the members of ${name} to be ${wanted.join(' and ')}`,
    timeoutMs: 60_000,
  })

const up = WORKERS.map((address) => `${address} up`)

const refused = (address: string, port = 80) =>
  waitFor(async () => !(await lab.client.tcp(address, port, { timeoutMs: 500 })).ok, {
    what: `nobody to answer at ${address}`,
    timeoutMs: 60_000,
  })

describe('Services kept by cloud-provider-openstack', () => {
  it('are load balancers over all nodes, with a floating IP', async () => {
    await lab.expose('web', 'web')
    const address = await lab.answering('web')
    await reaches('web', up)
    const pods = new Set<string>()
    await waitFor(async () => pods.add((await lab.ask(address))?.pod ?? '').size === 2, { what: 'both pods to answer' })
  })

  it('lose an excluded node and get it back without a failed request', async () => {
    const address = await lab.answering('web')
    const failed: string[] = []
    let stopping = false
    const asking = (async () => {
      while (!stopping) {
        const outcome = await lab.client.http(address, 80)
        if (!outcome.ok || outcome.value.status !== 200) failed.push(JSON.stringify(outcome))
      }
    })()
    await lab.cluster.api.patch('/api/v1/nodes/worker1', { metadata: { labels: { [EXCLUDED]: 'true' } } })
    await reaches('web', up.slice(1))
    await lab.cluster.api.patch('/api/v1/nodes/worker1', { metadata: { labels: { [EXCLUDED]: null } } })
    await reaches('web', up)
    stopping = true
    await asking
    expect(failed).toEqual([])
  })

  it('are limited to their source ranges, and open again', async () => {
    const address = await lab.answering('web')
    await lab.change('web', { spec: { loadBalancerSourceRanges: ['192.0.2.0/24'] } })
    await refused(address)
    await lab.change('web', { spec: { loadBalancerSourceRanges: ['192.0.2.0/24', `${CLIENT}/32`] } })
    await lab.answering('web')
    await lab.change('web', { spec: { loadBalancerSourceRanges: null } })
    await lab.answering('web')
  })

  it('get a second port and one of UDP, and lose them', async () => {
    const address = await lab.answering('web')
    const more = [
      { ...HTTP, name: 'other', port: 8080 },
      { name: 'echo', port: 9001, targetPort: 'echo', protocol: 'UDP' },
    ]
    await lab.change('web', { spec: { ports: [HTTP, ...more] } })
    await waitFor(() => lab.ask(address, 8080), { what: 'the second port to answer', timeoutMs: 60_000 })
    await waitFor(async () => (await lab.client.udp(address, 9001, 'hello')).ok, {
      what: 'an echo',
      timeoutMs: 60_000,
    })
    await lab.change('web', { spec: { ports: [HTTP] } })
    await refused(address, 8080)
    // The ports are refused once they have no pools; their listeners go after these.
    await waitFor(async () => (await lab.loadBalancerOf('web'))?.listeners.length === 1, {
      what: 'their listeners to be gone',
      timeoutMs: 60_000,
    })
  })

  it('are public no more once they are internal, and public again', async () => {
    const address = await lab.answering('web')
    await lab.change('web', { metadata: { annotations: { [INTERNAL]: 'true' } } })
    await refused(address)
    await lab.change('web', { metadata: { annotations: { [INTERNAL]: null } } })
    await lab.answering('web')
  })

  it('of policy Local keep to nodes with a pod', async () => {
    await lab.expose('single', 'single', { externalTrafficPolicy: 'Local' })
    const address = await lab.answering('single')
    await reaches('single', [`${WORKERS[0]} up`, `${WORKERS[1]} down`])
    for (let asked = 0; asked < 10; asked++) expect((await lab.ask(address))?.node).toBe('worker1')
  })

  it('are made ten at once', async () => {
    const names = Array.from({ length: 10 }, (_, n) => `many${n}`)
    await Promise.all(names.map((name) => lab.expose(name, 'web')))
    const addresses = await Promise.all(names.map((name) => lab.answering(name)))
    expect(new Set(addresses).size).toBe(10)
    await Promise.all(names.map((name) => lab.remove(name)))
  })

  it('leave nothing behind', async () => {
    await Promise.all(['web', 'single'].map((name) => lab.remove(name)))
    await waitFor(async () => (await lab.loadBalancers()).length === 0, {
      what: 'all load balancers to be gone',
      timeoutMs: 60_000,
    })
    expect(await lab.addresses()).toEqual([])
  })
})
