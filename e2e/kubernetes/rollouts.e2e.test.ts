import { recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askPolitely, type Experience } from './polite-client.ts'
import { type ServiceLab, startServiceLab } from './service-lab.ts'
import { untilOver } from './shop.ts'
import { drainNode, replacePods, startWorkload, uncordon } from './workloads.ts'

const NODE_PORTS = { 'spout.dev/mode': 'node-ports' }
/** With policy Local only the check notices a node without endpoints: it must be faster than the pods end. */
const QUICK = { ...NODE_PORTS, 'spout.dev/monitor-delay': '200ms', 'spout.dev/monitor-retries': '2' }
/** Three checks, a second each: this many failures take a member down. */
const CHECKED_MS = 3500
const LOCAL = { externalTrafficPolicy: 'Local' }
const WAYS = ['direct', 'direct-local', 'nodes', 'nodes-local'] as const
const REPLICAS = 4

interface Checked {
  readonly vips: readonly { readonly address: string }[]
  readonly pools: readonly { readonly monitor: { readonly http?: { readonly path?: string } | null } | null }[]
}

let lab: ServiceLab
let addresses: Readonly<Record<(typeof WAYS)[number], string>>

beforeAll(async () => {
  lab = await startServiceLab()
  await startWorkload(lab, { name: 'web', replicas: REPLICAS })
  await lab.expose('direct', 'web')
  await lab.expose('direct-local', 'web', LOCAL)
  await lab.expose('nodes', 'web', {}, NODE_PORTS)
  await lab.expose('nodes-local', 'web', LOCAL, QUICK)
  const found = await Promise.all(WAYS.map(async (name) => [name, await steady(name)] as const))
  addresses = Object.fromEntries(found) as typeof addresses
}, 900_000)
afterAll(() => lab?.destroy())

const onNodes = async (app: string): Promise<ReadonlySet<string>> =>
  new Set((await lab.cluster.pods(`app=${app}`)).map(({ spec }) => spec.nodeName ?? ''))

/** The address of a Service once nothing fails there any more: kube-proxy needs time for changes. */
async function steady(name: string): Promise<string> {
  const address = await lab.answering(name)
  await waitFor(
    async () => {
      for (let asked = 0; asked < 30; asked++) if ((await lab.ask(address)) === null) return false
      return true
    },
    { what: `${name} to answer every request`, timeoutMs: 30_000 },
  )
  return address
}

/** Runs one polite client for each way while something is done. @returns what each of them saw */
async function meanwhile(
  what: (goOn: () => Promise<unknown>) => Promise<void>,
): Promise<Readonly<Record<string, Experience>>> {
  const clients = WAYS.map((name) => [name, askPolitely(lab.client, addresses[name])] as const)
  try {
    await what(() => Promise.all(clients.map(([, client]) => client.goesOn(40))))
  } finally {
    for (const [, client] of clients) void client.stop()
  }
  return Object.fromEntries(
    await Promise.all(clients.map(async ([name, client]) => [name, await client.stop()] as const)),
  )
}

function expectNothingFailed(met: Readonly<Record<string, Experience>>): number {
  expect(Object.entries(met).filter(([, { failed }]) => failed.length > 0)).toEqual([])
  const counts = Object.values(met).map(({ count }) => count)
  expect(Math.min(...counts)).toBeGreaterThan(50)
  return counts.reduce((sum, count) => sum + count, 0)
}

const longest = (met: Readonly<Record<string, Experience>>): number =>
  Math.max(...Object.values(met).map(({ longestMs }) => longestMs))

describe('Services while their pods change', () => {
  it('a rolling update fails no request, under policy Cluster and Local, direct and by node ports (points 26, 27)', async () => {
    const met = await meanwhile(async () => {
      for (const round of [1, 2]) await replacePods(lab, 'web', round)
    })
    const count = expectNothingFailed(met)
    recordFault({
      fault: 'kubernetes: rolling update',
      outcome: 'no request fails, policies Cluster and Local, direct and by node ports',
      figure: `0 of ${count} requests failed in 2 rollouts of ${REPLICAS} pods, longest ${longest(met)} ms`,
    })
  })

  it('a drained node loses no request; its pods leave, also the node itself under policy Local (point 34)', async () => {
    expect(await onNodes('web')).toEqual(new Set(['worker1', 'worker2']))
    const met = await meanwhile(async () => {
      await drainNode(lab, 'worker1', ['web'])
      await lab.cluster.readyPods(REPLICAS, 'app=web')
    })
    const count = expectNothingFailed(met)
    expect(await onNodes('web')).toEqual(new Set(['worker2']))
    // A cordoned node is still a member with node ports (KEP-3458): kube-proxy runs on there.
    const nodes = (await lab.loadBalancers()).find(({ vips }) => vips[0]?.address === addresses.nodes)
    expect(nodes?.pools[0]?.members.map(({ address }) => address)).toEqual(['10.0.0.32', '10.0.0.33'])
    recordFault({
      fault: 'kubernetes: node drained',
      outcome: 'its pods leave, no request fails',
      figure: `0 of ${count} requests failed, longest ${longest(met)} ms`,
    })
    await uncordon(lab, 'worker1')
    await replacePods(lab, 'web', 3)
    expect(await onNodes('web')).toEqual(new Set(['worker1', 'worker2']))
  })

  it('changes between endpoints and node ports, and between Cluster and Local, lose no request (points 11, 19, 20)', async () => {
    for (const name of ['nodes', 'nodes-local']) await steady(name)
    const membersOf = async (name: (typeof WAYS)[number]) => {
      const shown = (await lab.loadBalancers()).find(({ vips }) => vips[0]?.address === addresses[name])
      const members = shown?.pools.flatMap((pool) => pool.members.map((member) => member.address)) ?? []
      return { members, active: shown?.status.provisioning === 'active' }
    }
    const arePods = async (name: (typeof WAYS)[number], pods: boolean) =>
      waitFor(
        async () => {
          const { members, active } = await membersOf(name)
          return active && members.length > 0 && members.every((address) => address.startsWith('10.244.') === pods)
        },
        { what: `${name} to have ${pods ? 'pods' : 'nodes'} as members` },
      )
    /** Path of the members' check; null for a check that only connects. */
    const checkedAt = (name: (typeof WAYS)[number], path: string | null) =>
      waitFor(
        async () => {
          const { items } = await lab.system.api<{ items: readonly Checked[] }>(lab.tenant, 'GET', '/load-balancers')
          const monitor = items.find(({ vips }) => vips[0]?.address === addresses[name])?.pools[0]?.monitor
          return monitor !== undefined && (monitor?.http?.path ?? null) === path
        },
        { what: `${name} to be checked at ${path ?? 'its port'}` },
      )
    const mode = (value: string) => ({ metadata: { annotations: { 'spout.dev/mode': value } } })
    const byNodePorts = WAYS.slice(2)
    const met = await meanwhile(async (goOn) => {
      for (const to of ['direct', 'node-ports'] as const) {
        await Promise.all(byNodePorts.map((name) => lab.change(name, mode(to))))
        await Promise.all(byNodePorts.map((name) => arePods(name, to === 'direct')))
        await goOn()
      }
      for (const externalTrafficPolicy of ['Local', 'Cluster']) {
        await lab.change('direct', { spec: { externalTrafficPolicy } })
        await lab.change('nodes', { spec: { externalTrafficPolicy } })
        await checkedAt('nodes', externalTrafficPolicy === 'Local' ? '/healthz' : null)
        // Until the new check has decided about every node.
        await untilOver(performance.now(), CHECKED_MS)
        await goOn()
      }
    })
    const count = expectNothingFailed(met)
    for (const name of WAYS) expect(lab.addressOf(await lab.service(name))).toBe(addresses[name])
    recordFault({
      fault: 'kubernetes: mode and policy changed live',
      outcome: 'same address, no request fails',
      figure: `0 of ${count} requests failed, longest ${longest(met)} ms`,
    })
  })
})

describe('datagrams from one port of a client', () => {
  const ECHO = { ports: [{ name: 'echo', port: 9001, targetPort: 'echo', protocol: 'UDP' }] }

  it.each([
    { way: 'direct', annotations: {} as Record<string, string>, sourcePort: 40_001 },
    { way: 'node-ports', annotations: NODE_PORTS as Record<string, string>, sourcePort: 40_002 },
  ])('reach the new pod on the same node and on another, $way (point 28)', async ({ way, annotations, sourcePort }) => {
    const name = `echo-${way}`
    await startWorkload(lab, { name, replicas: 1, node: 'worker1', shutdownDelay: '1s' })
    await lab.expose(name, name, ECHO, annotations)
    const address = await waitFor(async () => lab.addressOf(await lab.service(name)) || null, { what: 'an address' })
    const answering = async (): Promise<string | null> => {
      const outcome = await lab.client.udp(address, 9001, 'hello', { sourcePort, timeoutMs: 300 })
      return outcome.ok ? (outcome.value.split(' ')[0] ?? null) : null
    }
    let last = await waitFor(answering, { what: 'an answer' })
    for (const [round, node] of [
      [1, 'worker1'],
      [2, 'worker2'],
    ] as const) {
      // It sends all the time, so that no flow entry can expire.
      let silentMs = 0
      let heardMs = performance.now()
      let replaced = false
      const speaking = (async () => {
        while (!replaced || (await answering()) === last) {
          const pod = await answering()
          if (pod === null) continue
          silentMs = Math.max(silentMs, performance.now() - heardMs)
          heardMs = performance.now()
        }
      })()
      await replacePods(lab, name, round, node)
      replaced = true
      await speaking
      const [pod] = await lab.cluster.readyPods(1, `app=${name}`)
      expect(pod?.spec.nodeName).toBe(node)
      const next = await waitFor(async () => (await answering()) === pod?.metadata.name && pod?.metadata.name, {
        what: 'the new pod to answer',
      })
      expect(next).not.toBe(last)
      last = next
      recordFault({
        fault: `kubernetes: pod of a UDP client replaced, ${way}`,
        outcome: `a fixed source port reaches the new pod on ${round === 1 ? 'the same node' : 'another node'}`,
        figure: `longest silence ${Math.round(silentMs)} ms`,
      })
    }
  })
})

describe('a pod that asks the address of a Service', () => {
  it('is seen with its own address under policy Local, also where no endpoint is on its node (point 24)', async () => {
    await startWorkload(lab, { name: 'single', replicas: 1, node: 'worker1' })
    await lab.expose('single', 'single', LOCAL)
    const address = await lab.answering('single')
    await startWorkload(lab, { name: 'asker', replicas: 2 })
    const askers = await lab.cluster.pods('app=asker')
    expect(await onNodes('asker')).toEqual(new Set(['worker1', 'worker2']))
    for (const asker of askers) {
      const place = lab.cluster.podPlace(asker)
      // Until kube-proxy knows the address, the path is through a load-balancer node, which is then seen.
      const seen = await waitFor(
        async () => {
          const { stdout } = await lab.system.lab.run(place, ['curl', '-sf', '-m', '3', `http://${address}/`])
          const answer = JSON.parse(stdout) as { readonly pod: string; readonly client: string }
          return answer.client.replace('::ffff:', '') === asker.status?.podIP && answer
        },
        { what: `the pod on ${asker.spec.nodeName} to be seen as itself`, everyMs: 100 },
      )
      expect(seen.pod).toMatch(/^single-/)
    }
  })
})
