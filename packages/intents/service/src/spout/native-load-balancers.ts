import { NativeApi, Refused, type Sessions } from '@spout/client/native-api'
import type { LoadBalancer, Network, Withdrawal } from '@spout/model'
import type { KnownPool } from '../to-model/address-choice.ts'
import type { LoadBalancerContent } from '../to-model/content.ts'
import type {
  LoadBalancerEvent,
  LoadBalancerService,
  PodRoute,
  RoutedNetwork,
  ShownLoadBalancer,
  ShownWithdrawal,
  VipRequest,
} from './load-balancer-service.ts'

/** What the API shows: the document with its status in it. */
type Shown = LoadBalancer & { readonly status: ShownLoadBalancer['status'] }

/** `LoadBalancerService` over the native API. */
export class NativeLoadBalancers implements LoadBalancerService {
  readonly #api: NativeApi
  #projectId: string | null = null

  constructor(sessions: Sessions) {
    this.#api = new NativeApi(sessions)
  }

  async projectId(): Promise<string> {
    if (this.#projectId !== null) return this.#projectId
    const { projectId } = await this.#api.call<{ projectId: string | null }>('GET', '/tokens/current')
    if (projectId === null) throw new Refused('Forbidden', 'The token is for no project.', null)
    this.#projectId = projectId
    return projectId
  }

  async list(): Promise<readonly ShownLoadBalancer[]> {
    const { items } = await this.#api.call<{ items: readonly Shown[] }>(
      'GET',
      `/load-balancers?project=${await this.projectId()}`,
    )
    return items.map(split)
  }

  async get(id: string): Promise<ShownLoadBalancer | null> {
    try {
      return split(await this.#api.call<Shown>('GET', `/load-balancers/${id}`))
    } catch (error) {
      if (error instanceof Refused && error.code === 'NotFound') return null
      throw error
    }
  }

  async create(id: string, content: LoadBalancerContent, vip: VipRequest): Promise<ShownLoadBalancer> {
    const vips = [{ from: 'pool', ...vip }]
    return split(await this.#api.call<Shown>('POST', '/load-balancers', { ...bodyOf(content), id, vips }))
  }

  async replace(id: string, content: LoadBalancerContent): Promise<ShownLoadBalancer> {
    return split(await this.#api.call<Shown>('PUT', `/load-balancers/${id}`, bodyOf(content)))
  }

  async delete(id: string): Promise<void> {
    try {
      await this.#api.call('DELETE', `/load-balancers/${id}`)
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'NotFound') throw error
    }
  }

  async withdrawal(id: string, waitMs: number): Promise<ShownWithdrawal> {
    type Answer = Pick<Withdrawal, 'withdrawn' | 'overdue' | 'waitingFor'>
    const path = `/load-balancers/${id}/withdrawal?waitMs=${waitMs}`
    try {
      const { withdrawn, overdue, waitingFor } = await this.#api.call<Answer>('GET', path)
      return { withdrawn, overdue, waitingFor: waitingFor.map(({ nodeName }) => nodeName) }
    } catch (error) {
      // A control plane of an earlier version does not tell.
      if (error instanceof Refused && error.code === 'NotFound')
        return { withdrawn: true, overdue: false, waitingFor: [] }
      throw error
    }
  }

  async addVip(id: string, vip: VipRequest): Promise<ShownLoadBalancer> {
    return split(await this.#api.call<Shown>('POST', `/load-balancers/${id}/vips`, { from: 'pool', ...vip }))
  }

  async removeVip(id: string, address: string): Promise<ShownLoadBalancer> {
    return split(await this.#api.call<Shown>('DELETE', `/load-balancers/${id}/vips/${encodeURIComponent(address)}`))
  }

  async *watch(signal: AbortSignal): AsyncIterable<LoadBalancerEvent> {
    const projectId = await this.projectId()
    yield { type: 'listing' }
    // Statuses have no revision to come back to, so each watch begins with everything there is.
    for await (const line of this.#api.watch<Shown>('/load-balancers', signal)) {
      if (line.type === 'BOOKMARK') yield { type: 'listed' }
      else if (line.type === 'DELETED') yield { type: 'deleted', id: line.object.id }
      else if (line.object.projectId === projectId) yield { type: 'shown', loadBalancer: split(line.object) }
    }
  }

  async addressPools(): Promise<readonly KnownPool[]> {
    return (await this.#api.call<{ items: readonly KnownPool[] }>('GET', '/address-pools')).items
  }

  async network(nameOrId: string): Promise<RoutedNetwork> {
    const { items } = await this.#api.call<{ items: readonly Network[] }>(
      'GET',
      `/networks?project=${await this.projectId()}`,
    )
    const found = items.find(({ id }) => id === nameOrId) ?? items.find(({ name }) => name === nameOrId)
    if (found === undefined) throw new Refused('NotFound', `Network ${nameOrId} not found`, 'network')
    return { id: found.id, cidrs: found.subnets.map(({ cidr }) => cidr), routes: found.routes }
  }

  async replaceRoutes(networkId: string, routes: readonly PodRoute[]): Promise<void> {
    await this.#api.call('PUT', `/networks/${networkId}/routes`, { routes })
  }
}

function split({ status, ...document }: Shown): ShownLoadBalancer {
  const { provisioning, reason, message, confirmedGeneration } = status
  return { document, status: { provisioning, reason, message, confirmedGeneration } }
}

/** The content in the words of the native API. */
const bodyOf = (content: LoadBalancerContent) => ({
  name: content.name,
  description: '',
  tags: [],
  enabled: true,
  annotations: content.annotations,
  listeners: content.listeners,
  pools: content.pools.map(({ monitor, ...pool }) => ({
    ...pool,
    monitor: monitor === null ? null : monitorBody(monitor),
  })),
})

const monitorBody = ({ path, ...monitor }: NonNullable<LoadBalancerContent['pools'][number]['monitor']>) => ({
  ...monitor,
  ...(path === null ? {} : { http: { path } }),
})
