import {
  callApi,
  domainNamespaces,
  type Lab,
  memberAddress,
  must,
  NODES,
  nodesInSync,
  pidsIn,
  processesOf,
  run,
  type ShownNode,
  startAgent,
  type Tenant,
  waitFor,
} from '@spout/testkit'
import type { SpoutBed } from '../bed/spout-bed.ts'
import { routedBy, watchedByRouter } from './bird.ts'
import { MEMBER_PORTS } from './observers.ts'
import type { Pair, PairNode } from './pair.ts'
import { pidsCalled } from './peer-node.ts'

export type Announcer = 'l2' | 'vrrp' | 'bgp'

/** The lab's nodes on the fabric. */
export const SPOUT_ADDRESSES = ['198.51.100.2', '198.51.100.3'] as const

const DAEMONS = { l2: ['spout-helper'], vrrp: ['keepalived', 'spout-mover'], bgp: ['bird'] } as const
/** With `l2` the control plane moves addresses of a node that is silent for 5 s; the others notice by themselves. */
const PATIENCE_MS = { l2: 15_000, vrrp: 5000, bgp: 5000 } as const

/** The longest silence of a node that the router's BFD does not notice, by profile, rounded up. */
const NOTICED_MS: Readonly<Record<'default' | 'fast', number>> = { default: 300, fast: 30 }

interface ShownBalancer {
  readonly id: string
  readonly vips: readonly { readonly address: string }[]
  readonly status: { readonly provisioning: string; readonly reason: string; readonly message: string }
}

const PROTOCOLS = ['udp', 'tcp', 'http'] as const

export interface SpoutPairOptions {
  readonly tenant?: Tenant
  readonly poolId?: string
  /** Protocols of its listeners. Default: all. */
  readonly protocols?: readonly (typeof PROTOCOLS)[number][]
}

/** The lab's two nodes under Spout, and one load balancer: UDP and TCP by the packet path, HTTP by the proxy. */
export class SpoutPair implements Pair {
  readonly name = 'Spout'
  readonly nodes: readonly PairNode[]
  readonly patienceMs: number
  readonly vip: string
  readonly loadBalancerId: string
  readonly announcer: Announcer
  readonly #bed: SpoutBed
  #noticedMs = NOTICED_MS.default

  private constructor(bed: SpoutBed, announcer: Announcer, { id, vips }: ShownBalancer) {
    this.#bed = bed
    this.announcer = announcer
    this.patienceMs = PATIENCE_MS[announcer]
    this.vip = vips[0]?.address ?? ''
    this.loadBalancerId = id
    this.nodes = NODES.map((name) => pairNode(bed.lab, name, announcer))
  }

  static async create(
    bed: SpoutBed,
    announcer: Announcer,
    { tenant = bed.gateway, poolId = bed.publicPoolId, protocols = PROTOCOLS }: SpoutPairOptions = {},
  ): Promise<SpoutPair> {
    const created = await createBalancer(bed, tenant, poolId, 'failover', protocols)
    const pair = new SpoutPair(bed, announcer, created)
    for (const node of pair.nodes) await pair.#announces(node)
    return pair
  }

  /** Waits until the router watches every node by this BFD profile; so does each `restore` from then on. */
  async watchedBy(profile: keyof typeof NOTICED_MS): Promise<void> {
    this.#noticedMs = NOTICED_MS[profile]
    await watchedByRouter(this.#bed.lab, SPOUT_ADDRESSES, this.#noticedMs)
  }

  async restore(node: PairNode): Promise<void> {
    const { lab, access } = this.#bed
    if (lab.process(`agent-${node.name}`) === null) {
      const startedAt = Date.now()
      await forgetMemory(lab, node.name)
      await startAgent(lab, access, node.name)
      await this.inSyncAfter(node.name, startedAt)
    }
    await nodesInSync(access, this.nodes.length)
    await this.#announces(node)
  }

  /** Stops a node's agent in good order and restarts it, as an upgrade does. */
  async restartAgent(name: string): Promise<void> {
    const { lab, access } = this.#bed
    const agent = lab.process(`agent-${name}`)
    if (agent === null) throw new Error(`no agent runs on ${name}`)
    await lab.stop(agent)
    const startedAt = Date.now()
    await startAgent(lab, access, name)
    await this.inSyncAfter(name, startedAt)
  }

  async schedule(name: string, scheduling: 'enabled' | 'draining'): Promise<void> {
    const { endpoint, admin } = this.#bed.access
    const { items } = await callApi<{ items: ShownNode[] }>(endpoint, admin.token, 'GET', '/nodes')
    const id = items.find((one) => one.name === name)?.id
    await callApi(endpoint, admin.token, 'PUT', `/nodes/${id}/scheduling`, { scheduling })
  }

  /** Waits until a node has reported after this time that it is in sync. */
  async inSyncAfter(name: string, timeMs: number): Promise<void> {
    const { endpoint, admin } = this.#bed.access
    await waitFor(
      async () => {
        const { items } = await callApi<{ items: ShownNode[] }>(endpoint, admin.token, 'GET', '/nodes')
        const status = items.find((one) => one.name === name)?.status
        return status?.inSync === true && Date.parse(status.lastReportAt ?? '') > timeMs
      },
      { what: `${name} to be in sync`, timeoutMs: 30_000 },
    )
  }

  async #announces(node: PairNode): Promise<void> {
    await waitFor(
      async () => {
        const pids = node.daemons()
        const missing = DAEMONS[this.announcer].map(async (name) => (await pidsCalled(pids, [name])).length === 0)
        return !(await Promise.all(missing)).includes(true)
      },
      { what: `${node.name} to run its announcer`, timeoutMs: 30_000, everyMs: 50 },
    )
    if (this.announcer !== 'bgp') return
    await routedBy(this.#bed.lab, this.vip, await this.#nextHops())
    await watchedByRouter(this.#bed.lab, SPOUT_ADDRESSES, this.#noticedMs)
  }

  /** Fabric addresses of the nodes that announce the address; where members reply to one node, only that one. */
  async #nextHops(): Promise<readonly string[]> {
    const { endpoint, admin } = this.#bed.access
    return waitFor(
      async () => {
        const path = `/vips/${this.vip}`
        const shown = await callApi<{ shard: number | null; owners: string[] }>(endpoint, admin.token, 'GET', path)
        if (shown.owners.length !== (shown.shard === null ? NODES.length : 1)) return null
        return SPOUT_ADDRESSES.filter((_, index) => shown.owners.includes(NODES[index] ?? ''))
      },
      { what: `nodes to announce ${this.vip}`, timeoutMs: 30_000, everyMs: 50 },
    )
  }
}

/** Creates a load balancer with a listener for each kind of client, and waits until it is active. */
export async function createBalancer(
  bed: SpoutBed,
  tenant: Tenant,
  poolId: string,
  name: string,
  protocols: readonly (typeof PROTOCOLS)[number][] = PROTOCOLS,
): Promise<ShownBalancer> {
  const { endpoint } = bed.access
  const parts = protocols.map((protocol) => ({
    listener: { name: protocol, protocol, port: MEMBER_PORTS[protocol], defaultPool: protocol },
    pool: {
      name: protocol,
      protocol,
      members: [0, 1].map((index) => ({ address: memberAddress(index), port: MEMBER_PORTS[protocol] })),
    },
  }))
  const body = {
    name,
    vips: [{ from: 'pool', poolId }],
    listeners: parts.map(({ listener }) => listener),
    pools: parts.map(({ pool }) => pool),
  }
  const { id } = await callApi<ShownBalancer>(endpoint, tenant.token, 'POST', '/load-balancers', body)
  return waitFor(
    async () => {
      const shown = await callApi<ShownBalancer>(endpoint, tenant.token, 'GET', `/load-balancers/${id}`)
      const { provisioning, reason, message } = shown.status
      if (provisioning !== 'active') throw new Error(`${provisioning}: ${reason}: ${message}`)
      return shown
    },
    { what: `load balancer ${name} to be active`, timeoutMs: 30_000 },
  )
}

function pairNode(lab: Lab, name: string, announcer: Announcer): PairNode {
  const index = lab.places.findIndex((place) => place.name === name)
  return {
    name,
    namespace: lab.namespace(name),
    ports: (lab.places[index]?.links ?? []).map((link) => `p${index}-${link.name}`),
    processes: () => processesOf(lab, name),
    daemons: () => pidsCalled(pidsIn(lab.namespace(name)), DAEMONS[announcer]),
    electors: () => pidsCalled(pidsIn(lab.namespace(name)), DAEMONS[announcer].slice(0, 1)),
  }
}

/** Removes what a machine loses in a restart: the domains, and every address that was not configured. */
async function forgetMemory(lab: Lab, node: string): Promise<void> {
  for (const namespace of domainNamespaces(lab, node)) await run(['ip', 'netns', 'delete', namespace])
  // Proxied neighbours of its address mover (native/mover/proxied.h).
  const inside = (argv: readonly string[]) => run(['ip', '-6', '-n', lab.namespace(node), ...argv])
  await inside(['route', 'flush', 'table', 'local', 'proto', '83'])
  await inside(['neighbour', 'flush', 'proxy', 'dev', 'fab0'])
  const own = lab.places.find(({ name }) => name === node)?.links[0]?.addresses ?? []
  await must(['ip', '-n', lab.namespace(node), 'address', 'flush', 'dev', 'fab0', 'scope', 'global'])
  const addresses = own.map((address) => `address add ${address} dev fab0${address.includes(':') ? ' nodad' : ''}`)
  const routes = lab.places.find(({ name }) => name === node)?.routes ?? []
  const lines = [...addresses, ...routes.map((route) => `route replace ${route}`)]
  await must(['ip', '-n', lab.namespace(node), '-batch', '-'], { input: `${lines.join('\n')}\n` })
}
