import {
  type ChangedLine,
  NativeApi,
  type ProblemBody,
  problemFrom,
  Refused,
  refusedOr,
  type Sessions,
} from '@spout/client/native-api'
import { share } from '@spout/kube'
import {
  edited,
  type HttpRoute,
  type LoadBalancer,
  type Member,
  type Network,
  type Project,
  type Withdrawal,
} from '@spout/model'
import { parseCidr } from '@spout/net'
import type { AddressCandidate, KnownPool } from '../addresses/address-choice.ts'
import type { LoadBalancerContent } from '../content/content.ts'
import type { PoolChange } from '../content/content-difference.ts'
import { type RouteChange, withRouteChange } from '../content/route-difference.ts'
import { CallsTogether, type Outcome } from './calls-together.ts'
import type {
  LoadBalancerEvent,
  LoadBalancerService,
  PodRoute,
  RoutedNetwork,
  ShownLoadBalancer,
  ShownNetwork,
  ShownWithdrawal,
} from './load-balancer-service.ts'

/** What the API answers: the document with its status inside. */
export type AnsweredLoadBalancer = LoadBalancer & { readonly status: ShownLoadBalancer['status'] }

interface Creation {
  readonly id: string
  readonly content: LoadBalancerContent
  readonly vip: AddressCandidate
  readonly classId?: string
}

interface QueuedMemberChange {
  readonly loadBalancerId: string
  readonly change: PoolChange
}

/** The version that a change of members made, and the members that were put. */
type ChangedMembers = Pick<LoadBalancer, 'generation' | 'updatedAt'> & { readonly put: readonly Member[] }
type ChangedRoutes = Pick<LoadBalancer, 'generation' | 'updatedAt'> & { readonly put: readonly HttpRoute[] }
type Failure = { readonly error: ProblemBody }

/** Limit for the body of a call, well below the control plane's own limit. */
const MOST_BYTES = 500_000
const DOCUMENT_BYTES = 1500
const MEMBER_BYTES = 150

/** `LoadBalancerService` over the native API. Requests that arrive together share a call. */
export class NativeLoadBalancers implements LoadBalancerService {
  readonly #api: NativeApi
  readonly #creations: CallsTogether<Creation, ShownLoadBalancer>
  readonly #memberChanges: CallsTogether<QueuedMemberChange, ChangedMembers>
  /**
   * Created load balancers that the watch has not shown yet; null until the call is answered. What the watch shows is
   * then built from the same objects, so that a document is not kept twice.
   */
  readonly #made = new Map<string, LoadBalancer | null>()
  /** Those with routes, as a call of ours left them last: every watch shows the same objects, so nobody compares them in depth. */
  readonly #changed = new Map<string, LoadBalancer>()
  #projectId: string | null = null

  constructor(sessions: Sessions) {
    this.#api = new NativeApi(sessions)
    const isAboutContent = (error: unknown) => error instanceof Refused
    this.#creations = new CallsTogether<Creation, ShownLoadBalancer>({
      one: async (one) =>
        splitAnswer(await this.#api.call<AnsweredLoadBalancer>('POST', '/load-balancers', creationBody(one))),
      many: (all) => this.#createAll(all),
      isAboutContent,
      bytesOf: ({ content }) =>
        content.pools.reduce((sum, { members }) => sum + MEMBER_BYTES * members.length, DOCUMENT_BYTES),
      most: { items: 256, bytes: MOST_BYTES },
    })
    this.#memberChanges = new CallsTogether<QueuedMemberChange, ChangedMembers>({
      one: async (one) => {
        const [outcome] = await this.#changeAll([one])
        if (outcome === undefined) throw new Error('the control plane did not answer for it')
        if ('error' in outcome) throw outcome.error
        return outcome.value
      },
      many: (all) => this.#changeAll(all),
      isAboutContent,
      bytesOf: ({ change }) => MEMBER_BYTES * (1 + change.put.length + change.remove.length),
      most: { items: 1000, bytes: MOST_BYTES },
    })
  }

  async projectId(): Promise<string> {
    if (this.#projectId !== null) return this.#projectId
    const { projectId } = await this.#api.call<{ projectId: string | null }>('GET', '/tokens/current')
    if (projectId === null) throw new Refused('Forbidden', 'The token is for no project.', null)
    this.#projectId = projectId
    return projectId
  }

  async list(): Promise<readonly ShownLoadBalancer[]> {
    const { items } = await this.#api.call<{ items: readonly AnsweredLoadBalancer[] }>(
      'GET',
      `/load-balancers?project=${await this.projectId()}`,
    )
    return items.map(splitAnswer)
  }

  async get(id: string): Promise<ShownLoadBalancer | null> {
    try {
      return splitAnswer(await this.#api.call<AnsweredLoadBalancer>('GET', `/load-balancers/${id}`))
    } catch (error) {
      if (error instanceof Refused && error.code === 'NotFound') return null
      throw error
    }
  }

  async create(
    id: string,
    content: LoadBalancerContent,
    vip: AddressCandidate,
    patienceMs?: number,
    classId?: string,
  ): Promise<ShownLoadBalancer> {
    this.#made.set(id, null)
    try {
      const made = await this.#creations.ask(
        { id, content, vip, ...(classId === undefined ? {} : { classId }) },
        patienceMs,
      )
      if (this.#made.has(id)) this.#made.set(id, made.document)
      return made
    } catch (error) {
      this.#made.delete(id)
      throw error
    }
  }

  async classId(nameOrId: string): Promise<string | null> {
    const { items } = await this.#api.call<{ items: readonly { readonly id: string; readonly name: string }[] }>(
      'GET',
      '/load-balancer-classes',
    )
    const found = items.find(({ id }) => id === nameOrId) ?? items.find(({ name }) => name === nameOrId)
    return found?.id ?? null
  }

  async changeMembers({ document, status }: ShownLoadBalancer, change: PoolChange): Promise<ShownLoadBalancer> {
    const { generation, updatedAt, put } = await this.#memberChanges.ask({ loadBalancerId: document.id, change })
    const pools = document.pools.map((pool) =>
      pool.id === change.poolId ? { ...pool, members: changedMembers(pool.members, put, change.remove) } : pool,
    )
    return { document: { ...document, pools, generation, updatedAt }, status }
  }

  async changeRoutes({ document, status }: ShownLoadBalancer, change: RouteChange): Promise<ShownLoadBalancer> {
    const { listenerId, put: wanted, remove } = change
    const { generation, updatedAt, put } = await this.#api.call<ChangedRoutes>(
      'POST',
      `/load-balancers/${document.id}/listeners/${listenerId}/route-changes`,
      { put: wanted, remove },
    )
    const listeners = document.listeners.map((listener) =>
      listener.id === listenerId
        ? { ...listener, routes: [...withRouteChange(listener.routes, change, put)] }
        : listener,
    )
    const made = { ...document, listeners, generation, updatedAt }
    this.#changed.set(document.id, made)
    return { document: made, status }
  }

  async replace(id: string, content: LoadBalancerContent): Promise<ShownLoadBalancer> {
    const made = splitAnswer(
      await this.#api.call<AnsweredLoadBalancer>('PUT', `/load-balancers/${id}`, bodyOf(content)),
    )
    if (made.document.listeners.some(({ routes = [] }) => routes.length > 0)) this.#changed.set(id, made.document)
    return made
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
      // Another project has or had this id, whose clients choose ids too: there is nothing of ours under it.
      if (error instanceof Refused && error.code === 'NotFound')
        return { withdrawn: true, overdue: false, waitingFor: [] }
      throw error
    }
  }

  async addVip(id: string, vip: AddressCandidate): Promise<ShownLoadBalancer> {
    return splitAnswer(
      await this.#api.call<AnsweredLoadBalancer>('POST', `/load-balancers/${id}/vips`, { from: 'pool', ...vip }),
    )
  }

  async removeVip(id: string, address: string): Promise<ShownLoadBalancer> {
    return splitAnswer(
      await this.#api.call<AnsweredLoadBalancer>('DELETE', `/load-balancers/${id}/vips/${encodeURIComponent(address)}`),
    )
  }

  async *watch(signal: AbortSignal): AsyncIterable<LoadBalancerEvent> {
    const projectId = await this.projectId()
    yield { type: 'listing' }
    // Statuses have no revision to resume from, so each watch begins with everything that exists.
    const told = new Map<string, AnsweredLoadBalancer>()
    for await (const line of this.#api.watch<AnsweredLoadBalancer, ChangedLine>('/load-balancers', signal, {
      brief: '1',
    })) {
      if (line.type === 'BOOKMARK') yield { type: 'listed' }
      else if (line.type === 'DELETED') {
        told.delete(line.object.id)
        this.#made.delete(line.object.id)
        this.#changed.delete(line.object.id)
        yield { type: 'deleted', id: line.object.id }
      } else {
        const { id } = line.object
        const shown =
          line.type === 'CHANGED'
            ? this.#likeMade(edited(told.get(id), line.edits) as AnsweredLoadBalancer)
            : this.#likeMade(line.object)
        told.set(id, shown)
        if (shown.projectId === projectId) yield { type: 'shown', loadBalancer: splitAnswer(shown) }
      }
    }
  }

  /** What the watch shows, built from the objects of calls' answers. */
  #likeMade({ status, ...document }: AnsweredLoadBalancer): AnsweredLoadBalancer {
    const made = this.#changed.get(document.id) ?? this.#made.get(document.id) ?? null
    this.#made.delete(document.id)
    return { ...(made === null ? document : share<LoadBalancer>(made, document)), status }
  }

  async #createAll(all: readonly Creation[]): Promise<readonly Outcome<ShownLoadBalancer>[]> {
    const { results } = await this.#api.call<{
      results: readonly ({ readonly loadBalancer: AnsweredLoadBalancer } | Failure)[]
    }>('POST', '/load-balancers/batch', { loadBalancers: all.map(creationBody) })
    return results.map((one) => ('error' in one ? failed(one) : { value: splitAnswer(one.loadBalancer) }))
  }

  async #changeAll(all: readonly QueuedMemberChange[]): Promise<readonly Outcome<ChangedMembers>[]> {
    const changes = all.map(({ loadBalancerId, change: { poolId, put, remove } }) => {
      return { loadBalancerId, pool: poolId, put, remove }
    })
    const { results } = await this.#api.call<{ results: readonly (ChangedMembers | Failure)[] }>(
      'POST',
      '/load-balancers/member-changes',
      { changes },
    )
    return results.map((one) => ('error' in one ? failed(one) : { value: one }))
  }

  async addressPools(): Promise<readonly KnownPool[]> {
    return (await this.#api.call<{ items: readonly KnownPool[] }>('GET', '/address-pools')).items
  }

  async *poolChanges(signal: AbortSignal): AsyncIterable<void> {
    let listed = false
    for await (const { type } of this.#api.watch('/address-pools', signal)) {
      // The first bookmark ends the list; later ones only say that nothing happened.
      const ends = type === 'BOOKMARK'
      if (ends !== listed) yield
      listed ||= ends
    }
  }

  async *watchNetworks(signal: AbortSignal): AsyncIterable<readonly ShownNetwork[]> {
    const projectId = await this.projectId()
    const known = new Map<string, ShownNetwork>()
    let listed = false
    for await (const line of this.#api.watch<Network>('/networks', signal)) {
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
      for await (const line of this.#api.watch<Project>('/projects', signal)) {
        if (line.type === 'BOOKMARK') {
          if (listed) continue
          listed = true
        } else if (line.object.id !== projectId) continue
        else domains = line.type === 'DELETED' ? [] : (line.object.domains ?? [])
        if (listed) yield domains
      }
    } catch (error) {
      if (error instanceof Refused && error.code === 'Forbidden') yield []
      throw error
    }
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

function shownNetwork({ id, name, subnets }: Network): ShownNetwork {
  const cidrs = subnets.map(({ cidr }) => cidr).sort()
  const versions = new Set(cidrs.map((cidr) => parseCidr(cidr).version))
  return { id, name, cidrs, families: [...versions].sort() }
}

/** A member that was put replaces the one with its id, or is appended. */
function changedMembers(before: readonly Member[], put: readonly Member[], remove: PoolChange['remove']): Member[] {
  const gone = Map.groupBy(remove, ({ address }) => address)
  const fresh = new Map(put.map((member) => [member.id, member]))
  const members: Member[] = []
  for (const member of before) {
    if (gone.get(member.address)?.some(({ port }) => port === member.port) === true) continue
    members.push(fresh.get(member.id) ?? member)
    fresh.delete(member.id)
  }
  return [...members, ...fresh.values()]
}

const failed = ({ error }: Failure): Outcome<never> => ({ error: refusedOr(problemFrom(error)) })

/** Document and status of an answer. */
export const splitAnswer = ({ status, ...document }: AnsweredLoadBalancer): ShownLoadBalancer => ({
  document,
  status: ownStatus(status),
})

const ownStatus = ({
  provisioning,
  reason,
  message,
  confirmedGeneration,
  serving,
}: AnsweredLoadBalancer['status']): AnsweredLoadBalancer['status'] => ({
  provisioning,
  reason,
  message,
  confirmedGeneration,
  ...(serving === undefined ? {} : { serving }),
})

const creationBody = ({ id, content, vip, classId }: Creation) => ({
  ...bodyOf(content),
  id,
  vips: [{ from: 'pool', ...vip }],
  ...(classId === undefined ? {} : { classId }),
})

/** The content as the native API takes it. */
const bodyOf = (content: LoadBalancerContent) => ({
  name: content.name,
  description: '',
  tags: [],
  enabled: true,
  annotations: content.annotations,
  // Older control planes know no names.
  ...(content.dnsNames && { dnsNames: content.dnsNames, dnsTtlSeconds: content.dnsTtlSeconds ?? null }),
  listeners: content.listeners.map(({ defaultPool, ...listener }) => ({
    ...listener,
    ...(defaultPool === '' ? {} : { defaultPool }),
  })),
  pools: content.pools.map(({ monitor, ...pool }) => ({
    ...pool,
    monitor: monitor === null ? null : monitorBody(monitor),
  })),
})

const monitorBody = ({ path, ...monitor }: NonNullable<LoadBalancerContent['pools'][number]['monitor']>) => ({
  ...monitor,
  ...(path === null ? {} : { http: { path } }),
})
