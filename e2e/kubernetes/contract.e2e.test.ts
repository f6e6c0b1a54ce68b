import { msSince, recordFault, type ShownLoadBalancer, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shownVip } from '../announcing-group.ts'
import { CLIENT } from '../fixtures.ts'
import { agentOf } from '../node-processes.ts'
import { type ServiceLab, startServiceLab } from './service-lab.ts'
import { servicesIn } from './services.ts'
import { startWorkload } from './workloads.ts'

const QUICK = { 'spout.dev/monitor-delay': '200ms', 'spout.dev/monitor-retries': '2' }
const NODE_PORTS = { 'spout.dev/mode': 'node-ports', ...QUICK }
const NODES = ['node1', 'node2'] as const
const DEFAULT = servicesIn('default')

let lab: ServiceLab
beforeAll(async () => {
  lab = await startServiceLab()
  await startWorkload(lab, { name: 'web', replicas: 2 })
}, 900_000)
afterAll(() => lab?.destroy())

const balancerAt = async (address: string): Promise<ShownLoadBalancer | undefined> =>
  (await lab.loadBalancers()).find(({ vips }) => vips[0]?.address === address)
const exists = async (name: string): Promise<boolean> =>
  (await lab.cluster.api.list<{ metadata: { name: string } }>(DEFAULT)).items.some((one) => one.metadata.name === name)
const isGone = (name: string, timeoutMs = 15_000) =>
  waitFor(async () => !(await exists(name)), { what: `${name} to be gone`, timeoutMs, everyMs: 5 })

describe('the finalizer of a Service (point 3)', () => {
  const holders = async (address: string) => {
    const bound = await Promise.all(NODES.map((node) => lab.system.boundAddresses(node)))
    return NODES.filter((_, at) => bound[at]?.includes(address))
  }

  it('goes once no node has the address any more', async () => {
    const took: string[] = []
    for (const name of ['leaves-1', 'leaves-2', 'leaves-3']) {
      await lab.expose(name, 'web')
      const address = await lab.answering(name)
      expect(await holders(address)).toHaveLength(1)
      const began = performance.now()
      await lab.cluster.api.delete(`${DEFAULT}/${name}`)
      await isGone(name)
      took.push(msSince(began))
      // At that moment no node has the address, and none answers.
      expect(await holders(address)).toEqual([])
      expect(await lab.client.http(address, 80, { timeoutMs: 300 })).toMatchObject({ ok: false })
    }
    recordFault({
      fault: 'kubernetes: Service deleted',
      outcome: 'the finalizer goes once every node confirmed that it withdrew',
      figure: `Service gone after ${took.join(', ')}, 0 of 3 addresses bound or answering then`,
    })
  })

  it('stays while a node does not confirm, and not for longer than that node counts as there', async () => {
    await lab.expose('stuck', 'web')
    const address = await lab.answering('stuck')
    const shown = (await balancerAt(address)) as ShownLoadBalancer
    // It answers before its node has reported that.
    const owner = await waitFor(async () => (await shownVip(lab.system, shown)).owners[0], { what: 'an owner' })
    const agent = agentOf(lab.system.lab, owner)
    process.kill(agent.pid, 'SIGSTOP')
    try {
      const began = performance.now()
      await lab.cluster.api.delete(`${DEFAULT}/stuck`)
      await waitFor(async () => (await balancerAt(address)) === undefined, { what: 'the load balancer to be deleted' })
      const path = `/load-balancers/${shown.id}/withdrawal`
      const withdrawal = await lab.system.api<{ waitingFor: readonly { nodeName: string }[] }>(lab.tenant, 'GET', path)
      expect(withdrawal).toMatchObject({ withdrawn: false, overdue: false })
      expect(withdrawal.waitingFor.map(({ nodeName }) => nodeName)).toContain(owner)
      expect(await exists('stuck')).toBe(true)
      await isGone('stuck', 30_000)
      const took = msSince(began)
      recordFault({
        fault: 'kubernetes: Service deleted while the agent of its node hangs',
        outcome: 'the finalizer waits for the node until it counts as lost, then goes',
        figure: `Service gone after ${took}`,
      })
    } finally {
      process.kill(agent.pid, 'SIGCONT')
    }
    await waitFor(async () => (await holders(address)).length === 0, { what: 'the node to withdraw' })
  })
})

describe('source ranges of a Service (point 23)', () => {
  const OUTSIDE = '203.0.113.77'
  const from = async (source: string, address: string): Promise<boolean> => {
    const words = ['curl', '-s', '-o', '/dev/null', '-m', '1', '--interface', source, `http://${address}/`]
    return (await lab.system.lab.run('client', words)).code === 0
  }
  const only = (name: string, address: string, sources: readonly string[]) =>
    waitFor(
      async () => {
        const answered = await Promise.all([CLIENT, OUTSIDE].map((source) => from(source, address)))
        return [CLIENT, OUTSIDE].every((source, at) => answered[at] === sources.includes(source))
      },
      { what: `${name} to answer ${sources.join(' and ') || 'nobody'} alone` },
    )

  it.each([
    ['endpoints', {}],
    ['node ports', NODE_PORTS],
  ] as const)('let in who is inside and nobody else, by %s; changed and cleared live', async (way, annotations) => {
    await lab.system.lab.must('client', ['ip', 'address', 'add', `${OUTSIDE}/32`, 'dev', 'eth0'])
    try {
      const name = `ranges-${way.replace(' ', '-')}`
      const ranges = (loadBalancerSourceRanges: readonly string[] | null) =>
        lab.change(name, { spec: { loadBalancerSourceRanges } })
      await lab.expose(name, 'web', { loadBalancerSourceRanges: [`${CLIENT}/32`, '192.0.2.0/24'] }, annotations)
      const address = await lab.answering(name)
      await only(name, address, [CLIENT])
      await ranges([`${OUTSIDE}/32`])
      await only(name, address, [OUTSIDE])
      await ranges(['192.0.2.0/24'])
      await only(name, address, [])
      await ranges(null)
      await only(name, address, [CLIENT, OUTSIDE])
      expect(lab.addressOf(await lab.service(name))).toBe(address)
    } finally {
      await lab.system.lab.must('client', ['ip', 'address', 'delete', `${OUTSIDE}/32`, 'dev', 'eth0'])
    }
  })
})

describe('UDP node ports and a kube-proxy that fails (point 33)', () => {
  it('its node gets no datagram until kube-proxy is well again', async () => {
    const port = { name: 'echo', port: 9001, targetPort: 'echo', protocol: 'UDP' }
    await lab.expose('datagrams', 'web', { ports: [port] }, NODE_PORTS)
    const address = await waitFor(async () => lab.addressOf(await lab.service('datagrams')) || null, {
      what: 'an address',
    })
    const nodePort = (await lab.service('datagrams')).spec.ports[0]?.nodePort ?? 0
    const workers = ['worker1', 'worker2'] as const
    for (const worker of workers) await countDatagrams(worker, nodePort)
    let sourcePort = 20_000
    /** Opens this many flows, all of which must be answered. @returns datagrams that came to each node's port */
    const flows = async (count: number) => {
      const before = await Promise.all(workers.map(datagramsAt))
      for (let sent = 0; sent < count; sent++) {
        const outcome = await lab.client.udp(address, 9001, 'hello', { sourcePort: sourcePort++, timeoutMs: 1000 })
        if (!outcome.ok) return null
      }
      const after = await Promise.all(workers.map(datagramsAt))
      return workers.map((_, at) => (after[at] ?? 0) - (before[at] ?? 0))
    }
    const reaches = (what: string, is: (counts: readonly number[]) => boolean) =>
      waitFor(async () => is((await flows(24)) ?? [0, 0]), { what, timeoutMs: 30_000 })
    await reaches('both nodes to get datagrams', ([one = 0, two = 0]) => one > 0 && two > 0)

    const proxy = lab.system.lab.process('kube-proxy-worker1')
    expect(proxy).not.toBeNull()
    const began = performance.now()
    process.kill(proxy!.pid, 'SIGSTOP')
    let left = ''
    try {
      await waitFor(async () => (await downMembers(address)).join() === '10.0.0.32', { what: 'the node to be down' })
      left = msSince(began)
      await reaches('the other node to get everything', ([one, two = 0]) => one === 0 && two >= 24)
    } finally {
      process.kill(proxy!.pid, 'SIGCONT')
    }
    await reaches('both nodes to get datagrams again', ([one = 0, two = 0]) => one > 0 && two > 0)
    recordFault({
      fault: 'kubernetes: kube-proxy of a node hangs',
      outcome: 'its node leaves the rotation of UDP node ports, and comes back with it',
      figure: `out after ${left} (asked every 200 ms, 2 failures), then 0 of 24 datagrams came to it, 0 of 24 unanswered`,
    })
  })

  const TABLE = 'seen'
  const countDatagrams = (worker: string, nodePort: number) => {
    const chain = `add chain ip ${TABLE} in { type filter hook prerouting priority -300; }`
    const input = `add table ip ${TABLE}\n${chain}\nadd rule ip ${TABLE} in udp dport ${nodePort} counter\n`
    return lab.system.lab.must(worker, ['nft', '-f', '-'], { input })
  }
  const datagramsAt = async (worker: string): Promise<number> => {
    const text = await lab.system.lab.must(worker, ['nft', 'list', 'table', 'ip', TABLE])
    return Number(/counter packets (\d+)/.exec(text)?.[1] ?? 0)
  }
  const downMembers = async (address: string): Promise<readonly string[]> => {
    const shown = await balancerAt(address)
    const { members = {} } = (shown?.status ?? {}) as { members?: Record<string, { health: string }> }
    return (shown?.pools ?? []).flatMap((pool) =>
      pool.members.filter(({ id }) => members[id]?.health === 'down').map((member) => member.address),
    )
  }
})
