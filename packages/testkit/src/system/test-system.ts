import { Lab } from '../lab/lab.ts'
import { NODES, TENANTS } from '../lab/topology.ts'
import { waitFor } from '../lab/wait-for.ts'
import { type Account, callApi, type SystemAccess } from './access.ts'
import { THIS_CHECKOUT } from './checkout.ts'
import {
  type AgentOptions,
  type ControlPlaneOptions,
  createPublicPool,
  createTenant,
  nodesInSync,
  startAgent,
  startControlPlane,
  startMember,
  type Tenant,
  type TenantSpec,
} from './system.ts'

/** The parts of a load balancer of the native API that tests read. */
export interface ShownLoadBalancer {
  readonly id: string
  readonly generation: number
  readonly vips: readonly { readonly addressId: string; readonly address: string }[]
  readonly listeners: readonly { readonly id: string; readonly name: string }[]
  readonly pools: readonly {
    readonly id: string
    readonly name: string
    readonly members: readonly { readonly id: string; readonly name: string; readonly address: string }[]
  }[]
  readonly status: {
    readonly provisioning: 'pending' | 'active' | 'error'
    readonly reason: string
    readonly message: string
    readonly serving: { readonly state: string; readonly reason: string; readonly message: string }
    readonly ownerNodeId: string | null
    readonly members: Readonly<Record<string, { readonly health: string; readonly reason: string | null }>>
    readonly stats: Readonly<Record<string, { readonly totalConnections: number; readonly bytesOut: number }>>
  }
}

export interface ShownNode {
  readonly id: string
  readonly name: string
  readonly status: {
    readonly connection: 'connected' | 'disconnected' | 'never'
    readonly inSync: boolean
    readonly lastReportAt: string | null
  }
}

export interface TestSystemOptions {
  readonly tenants: readonly TenantSpec[]
  readonly set?: ControlPlaneOptions['set']
  /** Nodes to start, all by default. */
  readonly nodes?: readonly string[]
  /** Options of their agents. */
  readonly agents?: AgentOptions
  /** Directory of the checkout whose programs run, this one by default. */
  readonly checkout?: string
}

/** The whole product in a lab of its own, with tenants whose members answer; `destroy` removes it. */
export class TestSystem implements AsyncDisposable {
  readonly lab: Lab
  readonly access: SystemAccess
  readonly tenants: readonly Tenant[]
  /** Id of the pool `public`. */
  readonly publicPoolId: string

  private constructor(lab: Lab, access: SystemAccess, tenants: readonly Tenant[], publicPoolId: string) {
    this.lab = lab
    this.access = access
    this.tenants = tenants
    this.publicPoolId = publicPoolId
  }

  static async start(options: TestSystemOptions): Promise<TestSystem> {
    const { tenants, set = [], nodes = NODES, agents: how = {}, checkout = THIS_CHECKOUT } = options
    const lab = await Lab.create()
    try {
      const access = await startControlPlane(lab, { set, checkout })
      const members = TENANTS.flatMap((tenant) => [1, 2].map((index) => startMember(lab, `${tenant}-member${index}`)))
      const agents = nodes.map((node) => startAgent(lab, access, node, { checkout, ...how }))
      const { id } = await createPublicPool(access)
      const accounts = await Promise.all(tenants.map((tenant) => createTenant(access, tenant)))
      await Promise.all([...agents, ...members])
      await nodesInSync(access, nodes.length)
      return new TestSystem(lab, access, accounts, id)
    } catch (error) {
      await lab.destroy({ keepLogs: true })
      throw error
    }
  }

  /** One call of the native API with an account's token. */
  api<T = unknown>(who: Pick<Account, 'token'>, method: string, path: string, body?: unknown): Promise<T> {
    return callApi<T>(this.access.endpoint, who.token, method, path, body)
  }

  /**
   * Creates a load balancer with a VIP of pool `public`, unless the body says otherwise, and waits until it is active.
   */
  async createLoadBalancer(who: Account, body: object): Promise<ShownLoadBalancer> {
    const vips = [{ from: 'pool', poolId: this.publicPoolId }]
    const { id } = await this.api<ShownLoadBalancer>(who, 'POST', '/load-balancers', { vips, ...body })
    return this.active(who, id)
  }

  loadBalancer(who: Account, id: string): Promise<ShownLoadBalancer> {
    return this.api(who, 'GET', `/load-balancers/${id}`)
  }

  /** Waits until the newest change is on the node that carries it. @throws Error when it failed */
  async active(who: Account, id: string): Promise<ShownLoadBalancer> {
    const done = await waitFor(
      async () => {
        const shown = await this.loadBalancer(who, id)
        return shown.status.provisioning !== 'pending' && shown
      },
      { what: `load balancer ${id} to be active` },
    )
    if (done.status.provisioning === 'error')
      throw new Error(`load balancer ${id}: ${done.status.reason}: ${done.status.message}`)
    return done
  }

  async nodes(): Promise<readonly ShownNode[]> {
    return (await this.api<{ items: ShownNode[] }>(this.access.admin, 'GET', '/nodes')).items
  }

  async nodeNamed(name: string): Promise<ShownNode> {
    const found = (await this.nodes()).find((node) => node.name === name)
    if (found === undefined) throw new Error(`there is no node ${name}`)
    return found
  }

  /** Waits until a node has reported after this time that it is in sync; earlier reports do not count. */
  async inSyncAfter(node: string, timeMs: number): Promise<void> {
    await waitFor(
      async () => {
        const { inSync, lastReportAt } = (await this.nodeNamed(node)).status
        return inSync && Date.parse(lastReportAt ?? '') > timeMs
      },
      { what: `${node} to be in sync` },
    )
  }

  /** Addresses of every interface in a node's root namespace, without prefix lengths. */
  async boundAddresses(node: string): Promise<readonly string[]> {
    const links = JSON.parse(await this.lab.must(node, ['ip', '-j', 'addr', 'show'])) as {
      readonly addr_info: readonly { readonly local: string }[]
    }[]
    return links.flatMap(({ addr_info }) => addr_info.map(({ local }) => local))
  }

  destroy(): Promise<void> {
    return this.lab.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy()
  }
}
