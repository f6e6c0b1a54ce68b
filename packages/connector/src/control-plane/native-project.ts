import { NativeApi, Refused, type Sessions } from '@spout/client/native-api'
import { domainsOf, type LoadBalancerClass, type Network, type Project } from '@spout/model'
import { parseCidr } from '@spout/net'
import type { KnownPool } from '../addresses/address-choice.ts'
import type { PodRoute, ProjectService, RoutedNetwork, ShownNetwork, ShownQuota } from './load-balancer-service.ts'

/** `ProjectService` over the native API. */
export class NativeProject implements ProjectService {
  protected readonly api: NativeApi
  #projectId: string | null = null

  constructor(sessions: Sessions) {
    this.api = new NativeApi(sessions)
  }

  async projectId(): Promise<string> {
    if (this.#projectId !== null) return this.#projectId
    const { projectId } = await this.api.call<{ projectId: string | null }>('GET', '/tokens/current')
    if (projectId === null) throw new Refused('Forbidden', 'The token is for no project.', null)
    this.#projectId = projectId
    return projectId
  }

  async loadBalancerClass(nameOrId: string): Promise<LoadBalancerClass | null> {
    const { items } = await this.api.call<{ items: readonly LoadBalancerClass[] }>('GET', '/load-balancer-classes')
    return items.find(({ id }) => id === nameOrId) ?? items.find(({ name }) => name === nameOrId) ?? null
  }

  async quota(): Promise<ShownQuota> {
    return await this.api.call<ShownQuota>('GET', `/projects/${await this.projectId()}/quota`)
  }

  async addressPools(): Promise<readonly KnownPool[]> {
    return (await this.api.call<{ items: readonly KnownPool[] }>('GET', '/address-pools')).items
  }

  async *poolChanges(signal: AbortSignal): AsyncIterable<void> {
    let listed = false
    for await (const { type } of this.api.watch('/address-pools', signal)) {
      // The first bookmark ends the list; later ones are keep-alives. Yields at the end of the list and for changes.
      const ends = type === 'BOOKMARK'
      if (ends !== listed) yield
      listed ||= ends
    }
  }

  async *watchNetworks(signal: AbortSignal): AsyncIterable<readonly ShownNetwork[]> {
    const projectId = await this.projectId()
    const known = new Map<string, ShownNetwork>()
    let listed = false
    for await (const line of this.api.watch<Network>('/networks', signal)) {
      if (line.type === 'DELETED') known.delete(line.object.id)
      else if (line.type !== 'BOOKMARK') {
        if (line.object.projectId === projectId) known.set(line.object.id, shownNetwork(line.object))
      } else if (listed) continue
      else listed = true
      // Everything before the first bookmark is part of the list.
      if (listed) yield [...known.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
    }
  }

  async *watchDomains(signal: AbortSignal): AsyncIterable<readonly string[]> {
    const projectId = await this.projectId()
    let domains: readonly string[] = []
    let listed = false
    try {
      for await (const line of this.api.watch<Project>('/projects', signal)) {
        if (line.type === 'BOOKMARK') {
          if (listed) continue
          listed = true
        } else if (line.object.id !== projectId) continue
        else domains = line.type === 'DELETED' ? [] : domainsOf(line.object)
        if (listed) yield domains
      }
    } catch (error) {
      if (error instanceof Refused && error.code === 'Forbidden') yield []
      throw error
    }
  }

  async network(nameOrId: string): Promise<RoutedNetwork> {
    const { items } = await this.api.call<{ items: readonly Network[] }>(
      'GET',
      `/networks?project=${await this.projectId()}`,
    )
    const found = items.find(({ id }) => id === nameOrId) ?? items.find(({ name }) => name === nameOrId)
    if (found === undefined) throw new Refused('NotFound', `Network ${nameOrId} not found`, 'network')
    const cidrs = found.subnets.map(({ cidr }) => cidr)
    return { id: found.id, cidrs, returnPath: found.returnPath, routes: found.routes }
  }

  async replaceRoutes(networkId: string, routes: readonly PodRoute[]): Promise<void> {
    await this.api.call('PUT', `/networks/${networkId}/routes`, { routes })
  }
}

function shownNetwork({ id, name, subnets }: Network): ShownNetwork {
  const cidrs = subnets.map(({ cidr }) => cidr).sort()
  const versions = new Set(cidrs.map((cidr) => parseCidr(cidr).version))
  return { id, name, cidrs, families: [...versions].sort() }
}
