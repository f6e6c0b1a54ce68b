import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type LoadBalancer, loadBalancerKey, type Network } from '@spout/model'
import type { Write } from '@spout/store'
import { instanceOf, Lab, memberAddress, productUnit, run, TENANT_SUBNET, waitFor } from '@spout/testkit'
import { listenerOf, loadBalancerOf, memberOf, poolOf } from '@spout/testkit/model'
import type { AppliedLine } from '../programs/timed-agent.ts'
import { ControlPlane } from './control-plane.ts'
import { LineProgram } from './native.ts'

const REPOSITORY = path.resolve(import.meta.dirname, '../..')
const AGENT = path.resolve(import.meta.dirname, '../programs/timed-agent.ts')
const SEGMENT = 'tenant-a'
const COMMIT_SIZE = 500

/** A load balancer with one TCP listener on port 80 and a pool of members, as admission would store it. */
export function tcpLoadBalancer(
  network: Network,
  name: string,
  vip: string,
  ports: readonly { readonly listener: number; readonly member: number }[],
  members: readonly string[],
): LoadBalancer {
  const pools = ports.map(({ member: port }) =>
    poolOf(
      randomUUID(),
      members.map((address) => memberOf(randomUUID(), address, port)),
      { name },
    ),
  )
  return loadBalancerOf(randomUUID(), {
    name,
    projectId: network.projectId,
    networkId: network.id,
    vips: [
      { addressId: randomUUID(), address: vip, scope: 'fabric', poolId: randomUUID(), networkId: null, subnetId: null },
    ],
    listeners: ports.map(({ listener: port }, index) =>
      listenerOf(randomUUID(), port, { name, defaultPoolId: pools[index]?.id ?? null }),
    ),
    pools,
  })
}

/** The n-th of the addresses that only fill tables: RFC 6598, not used in the lab. */
export const fillAddress = (n: number): string => `100.${64 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`

/** Parts of the control plane in this process, agents with timestamps on the lab's nodes, one tenant's network. */
export class NodeBed implements AsyncDisposable {
  readonly lab: Lab
  readonly controlPlane: ControlPlane
  readonly network: Network
  readonly #agents = new Map<string, LineProgram>()

  private constructor(lab: Lab, controlPlane: ControlPlane, network: Network) {
    this.lab = lab
    this.controlPlane = controlPlane
    this.network = network
  }

  static async create(): Promise<NodeBed> {
    const lab = await Lab.create()
    try {
      const controlPlane = await ControlPlane.start(lab)
      const { admission } = controlPlane
      const text = { name: 'bench', description: '' }
      const project = await admission.createProject(text)
      const segment = { physicalNetwork: SEGMENT, vlan: null }
      const made = await admission.createNetwork({ ...text, projectId: project.id, returnPath: 'gateway', segment })
      const { cidr, gateway: gatewayIp } = TENANT_SUBNET
      await admission.addSubnet(made.id, { ...text, cidr, gatewayIp, nodeRange: null })
      const network = controlPlane.view.get('network', made.id)
      if (network === null) throw new Error('the network is not in the view')
      return new NodeBed(lab, controlPlane, network.value)
    } catch (error) {
      await lab.destroy()
      throw error
    }
  }

  /** Starts a node's agent, the first time with a new enrolment token; it prints `AppliedLine`s. */
  async startAgent(node: string): Promise<LineProgram> {
    const { lab, controlPlane } = this
    const directory = this.#directory(node)
    mkdirSync(directory, { recursive: true })
    const enrolmentTokenFile = path.join(directory, 'token')
    if (!controlPlane.view.list('node').some(({ name }) => name === node))
      writeFileSync(enrolmentTokenFile, await controlPlane.enrolmentToken(node), { mode: 0o600 })
    const instance = instanceOf(lab, node)
    const settings = [
      `stateDirectory=${directory}`,
      `instance=${instance}`,
      `server.url=${controlPlane.url}`,
      `server.enrolmentTokenFile=${enrolmentTokenFile}`,
      'fabric.interface=fab0',
      `segments={${SEGMENT}: seg-${SEGMENT.at(-1)}}`,
      `helper.path=${path.join(REPOSITORY, 'native/build/spout-helper')}`,
      `haproxy.runDirectory=${path.join(lab.runDirectory, instance)}`,
      `haproxy.cgroup=spout-${instance}`,
    ]
    const argv = [process.execPath, ...productUnit('agent').nodeOptions, AGENT, ...settings]
    const agent = new LineProgram(lab, node, argv)
    this.#agents.set(node, agent)
    return agent
  }

  /** Resolves once the node is connected. */
  async connected(node: string): Promise<void> {
    await waitFor(() => this.#status(node)?.connection === 'connected', { what: `${node} to connect` })
  }

  async inSync(node: string, timeoutMs = 120_000): Promise<void> {
    await waitFor(() => this.#status(node)?.inSync, { what: `${node} to be in sync`, timeoutMs })
  }

  /**
   * Resolves once the nodes have confirmed everything in the store: an agent works on for a while after its drivers.
   */
  async confirmed(timeoutMs = 300_000): Promise<void> {
    const { status, view } = this.controlPlane
    await waitFor(() => status.counts.active === view.list('loadBalancer').length, {
      what: 'every load balancer to be confirmed',
      timeoutMs,
      everyMs: 100,
    })
  }

  #status(node: string) {
    const found = this.controlPlane.view.list('node').find(({ name }) => name === node)
    return found === undefined ? undefined : this.controlPlane.status.node(found.id)
  }

  /** Kills a node's agent and removes everything that it made there. For nodes that announce nothing. */
  async empty(node: string): Promise<void> {
    await this.#agents.get(node)?.[Symbol.asyncDispose]()
    this.#agents.delete(node)
    rmSync(path.join(this.#directory(node), 'entries.journal'), { force: true })
    const { stdout } = await run(['ip', 'netns', 'list'])
    const domains = stdout.split(/\s+/).filter((name) => name.startsWith(`${instanceOf(this.lab, node)}-`))
    for (const domain of domains) await run(['ip', 'netns', 'delete', domain])
    await this.lab.run(node, ['ip', 'route', 'flush', 'table', '7100'])
  }

  /** Stores load balancers, many in one commit. */
  async write(loadBalancers: Iterable<LoadBalancer>): Promise<void> {
    let writes: Write[] = []
    const flush = async () => {
      const { revision } = await this.controlPlane.store.commit(writes)
      await this.controlPlane.view.caughtUp(revision)
      writes = []
    }
    for (const value of loadBalancers) {
      writes.push({ op: 'put', kind: 'loadBalancer', id: value.id, scope: value.projectId, value })
      if (writes.length === COMMIT_SIZE) await flush()
    }
    if (writes.length > 0) await flush()
  }

  /** Stores `count` load balancers of one listener and two members each, and waits until all are planned. */
  async fill(count: number): Promise<readonly LoadBalancer[]> {
    const members = [memberAddress(0), memberAddress(1)]
    const made = Array.from({ length: count }, (_, n) =>
      // Each has its own endpoints, as tenants do: in the reverse map an endpoint belongs to one service.
      tcpLoadBalancer(this.network, `fill-${n}`, fillAddress(n), [{ listener: 80, member: 1024 + n }], members),
    )
    await this.write(made)
    await this.planned()
    return made
  }

  async planned(): Promise<void> {
    const { planner, view, nodeStates } = this.controlPlane
    await waitFor(
      () =>
        planner.backlog === 0 &&
        view
          .list('loadBalancer')
          .every(({ id }) => !nodeStates.nodesWith(loadBalancerKey(id))[Symbol.iterator]().next().done),
      { what: 'every load balancer to be planned', timeoutMs: 180_000, everyMs: 100 },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents.values()) await agent[Symbol.asyncDispose]()
    await this.controlPlane[Symbol.asyncDispose]()
    await this.lab.destroy()
  }

  #directory(node: string): string {
    return path.join(this.lab.directory, node)
  }
}

/** The next time when the packet path's driver completed some entries. */
export async function nextApplied(agent: LineProgram): Promise<AppliedLine> {
  for (;;) {
    const line = JSON.parse(await agent.next()) as AppliedLine
    if (line.failed > 0) throw new Error(`${line.failed} entries failed`)
    if (line.entries > 0) return line
  }
}

/**
 * The next apply that completed after a moment. Entries are applied again when their domain changes, so more earlier
 * lines may be left than were counted.
 * @param sinceNs on CLOCK_MONOTONIC
 */
export async function appliedSince(agent: LineProgram, sinceNs: bigint): Promise<AppliedLine> {
  for (;;) {
    const line = await nextApplied(agent)
    if (BigInt(line.doneNs) >= sinceNs) return line
  }
}
