import { ApiProblem, call, type Session, watch } from '@spout/client'
import { ERRORS, type ErrorCode, type LoadBalancer, type Network } from '@spout/model'
import type { KnownPool } from '../to-model/address-choice.ts'
import type { LoadBalancerContent } from '../to-model/content.ts'
import {
  type LoadBalancerEvent,
  type LoadBalancerService,
  type PodRoute,
  type RoutedNetwork,
  type ShownLoadBalancer,
  type VipRequest,
  WishRefused,
} from './load-balancer-service.ts'

/** What the API shows: the document with its status in it. */
type Shown = LoadBalancer & { readonly status: ShownLoadBalancer['status'] }

interface WatchLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object?: Shown
  readonly error?: { readonly detail?: string }
}

/** Who asks. `forget` says that the control plane does not know the token any more: the next one must be another. */
export interface Sessions {
  session(): Promise<Session>
  forget(): void
}

/** `LoadBalancerService` over the native API. The session is asked for anew for each call: tokens end. */
export class NativeLoadBalancers implements LoadBalancerService {
  readonly #sessions: Sessions
  #projectId: string | null = null

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  async projectId(): Promise<string> {
    if (this.#projectId !== null) return this.#projectId
    const { projectId } = await this.#call<{ projectId: string | null }>('GET', '/tokens/current')
    if (projectId === null) throw new WishRefused('Forbidden', 'The token is for no project.', null)
    this.#projectId = projectId
    return projectId
  }

  async list(): Promise<readonly ShownLoadBalancer[]> {
    const { items } = await this.#call<{ items: readonly Shown[] }>(
      'GET',
      `/load-balancers?project=${await this.projectId()}`,
    )
    return items.map(split)
  }

  async get(id: string): Promise<ShownLoadBalancer | null> {
    try {
      return split(await this.#call<Shown>('GET', `/load-balancers/${id}`))
    } catch (error) {
      if (error instanceof WishRefused && error.code === 'NotFound') return null
      throw error
    }
  }

  async create(id: string, content: LoadBalancerContent, vip: VipRequest): Promise<ShownLoadBalancer> {
    const vips = [{ from: 'pool', ...vip }]
    return split(await this.#call<Shown>('POST', '/load-balancers', { ...bodyOf(content), id, vips }))
  }

  async replace(id: string, content: LoadBalancerContent): Promise<ShownLoadBalancer> {
    return split(await this.#call<Shown>('PUT', `/load-balancers/${id}`, bodyOf(content)))
  }

  async delete(id: string): Promise<void> {
    try {
      await this.#call('DELETE', `/load-balancers/${id}`)
    } catch (error) {
      if (!(error instanceof WishRefused) || error.code !== 'NotFound') throw error
    }
  }

  async addVip(id: string, vip: VipRequest): Promise<ShownLoadBalancer> {
    return split(await this.#call<Shown>('POST', `/load-balancers/${id}/vips`, { from: 'pool', ...vip }))
  }

  async removeVip(id: string, address: string): Promise<ShownLoadBalancer> {
    return split(await this.#call<Shown>('DELETE', `/load-balancers/${id}/vips/${encodeURIComponent(address)}`))
  }

  async *watch(signal: AbortSignal): AsyncIterable<LoadBalancerEvent> {
    const projectId = await this.projectId()
    const session = await this.#sessions.session()
    yield { type: 'listing' }
    // Statuses have no revision to come back to, so each watch begins with everything there is.
    for await (const line of this.#lines(session, signal)) {
      if (line.type === 'ERROR') throw new Error(line.error?.detail ?? 'the watch ended')
      if (line.type === 'BOOKMARK') yield { type: 'listed' }
      else if (line.object === undefined) continue
      else if (line.type === 'DELETED') yield { type: 'deleted', id: line.object.id }
      else if (line.object.projectId === projectId) yield { type: 'shown', loadBalancer: split(line.object) }
    }
  }

  async *#lines(session: Session, signal: AbortSignal): AsyncIterable<WatchLine> {
    try {
      yield* watch<WatchLine>(session, '/load-balancers?watch=1', signal)
    } catch (error) {
      if (isUnknownToken(error)) this.#sessions.forget()
      throw error
    }
  }

  async addressPools(): Promise<readonly KnownPool[]> {
    return (await this.#call<{ items: readonly KnownPool[] }>('GET', '/address-pools')).items
  }

  async network(nameOrId: string): Promise<RoutedNetwork> {
    const { items } = await this.#call<{ items: readonly Network[] }>(
      'GET',
      `/networks?project=${await this.projectId()}`,
    )
    const found = items.find(({ id }) => id === nameOrId) ?? items.find(({ name }) => name === nameOrId)
    if (found === undefined) throw new WishRefused('NotFound', `Network ${nameOrId} not found`, 'network')
    return { id: found.id, cidrs: found.subnets.map(({ cidr }) => cidr), routes: found.routes }
  }

  async replaceRoutes(networkId: string, routes: readonly PodRoute[]): Promise<void> {
    await this.#call('PUT', `/networks/${networkId}/routes`, { routes })
  }

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    try {
      return await call<T>(await this.#sessions.session(), method, path, body)
    } catch (error) {
      if (isUnknownToken(error)) this.#sessions.forget()
      throw refusedOr(error)
    }
  }
}

const isUnknownToken = (error: unknown): boolean => error instanceof ApiProblem && error.status === 401

/** A problem that trying again does not end is a refusal. A token that ended is not: the next call gets another. */
function refusedOr(error: unknown): unknown {
  if (!(error instanceof ApiProblem)) return error
  const known = ERRORS[error.code as ErrorCode]
  if (known === undefined || known.retry === 'backoff' || known.kind === 'unauthenticated') return error
  return new WishRefused(error.code ?? 'Refused', error.message, error.field)
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
