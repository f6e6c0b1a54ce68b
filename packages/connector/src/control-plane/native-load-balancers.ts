import {
  type ChangedLine,
  type ProblemBody,
  problemFrom,
  Refused,
  refusedOr,
  type Sessions,
} from '@spout/client/native-api'
import { edited, type HttpRoute, type LoadBalancer, type Member, type Withdrawal } from '@spout/model'
import type { AddressCandidate } from '../addresses/address-choice.ts'
import type { LoadBalancerContent } from '../content/content.ts'
import type { PoolChange } from '../content/content-difference.ts'
import { type RouteChange, withRouteChange } from '../content/route-difference.ts'
import { AnsweredDocuments } from './answered-documents.ts'
import { CallsTogether, type Outcome } from './calls-together.ts'
import type {
  LoadBalancerEvent,
  LoadBalancerService,
  ShownLoadBalancer,
  ShownWithdrawal,
} from './load-balancer-service.ts'
import { type AnsweredLoadBalancer, bodyOf, type Creation, creationBody, splitAnswer } from './native-bodies.ts'
import { NativeProject } from './native-project.ts'
import { SharedWatch } from './shared-watch.ts'

interface QueuedMemberChange {
  readonly loadBalancerId: string
  readonly change: PoolChange
}

/** The answer to a change: the new version of the load balancer, and the members or routes that were put. */
type ChangedMembers = Pick<LoadBalancer, 'generation' | 'updatedAt'> & { readonly put: readonly Member[] }
type ChangedRoutes = Pick<LoadBalancer, 'generation' | 'updatedAt'> & { readonly put: readonly HttpRoute[] }
type Failure = { readonly error: ProblemBody }

/** Limit for the body of a batch, well below the control plane's own limit. The sizes below are estimates. */
const MOST_BYTES = 500_000
const DOCUMENT_BYTES = 1500
const MEMBER_BYTES = 150
const ROUTE_BYTES = 500

/** `LoadBalancerService` over the native API. Requests that arrive together share a call. */
export class NativeLoadBalancers extends NativeProject implements LoadBalancerService {
  readonly #creations: CallsTogether<Creation, ShownLoadBalancer>
  readonly #memberChanges: CallsTogether<QueuedMemberChange, ChangedMembers>
  readonly #answers = new AnsweredDocuments()
  readonly #watch = new SharedWatch((signal) => this.#openWatch(signal))

  constructor(sessions: Sessions) {
    super(sessions)
    const isAboutContent = (error: unknown) => error instanceof Refused
    this.#creations = new CallsTogether<Creation, ShownLoadBalancer>({
      one: async (one) =>
        splitAnswer(await this.api.call<AnsweredLoadBalancer>('POST', '/load-balancers', creationBody(one))),
      many: (all) => this.#createAll(all),
      isAboutContent,
      bytesOf: ({ content: { pools, listeners } }) =>
        pools.reduce((sum, { members }) => sum + MEMBER_BYTES * members.length, DOCUMENT_BYTES) +
        listeners.reduce((sum, { routes = [] }) => sum + ROUTE_BYTES * routes.length, 0),
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

  async list(): Promise<readonly ShownLoadBalancer[]> {
    const { items } = await this.api.call<{ items: readonly AnsweredLoadBalancer[] }>(
      'GET',
      `/load-balancers?project=${await this.projectId()}`,
    )
    return items.map(splitAnswer)
  }

  async get(id: string): Promise<ShownLoadBalancer | null> {
    try {
      return splitAnswer(await this.api.call<AnsweredLoadBalancer>('GET', `/load-balancers/${id}`))
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
    this.#answers.begin(id)
    try {
      const made = await this.#creations.ask(
        { id, content, vip, ...(classId === undefined ? {} : { classId }) },
        patienceMs,
      )
      this.#answers.made(made.document)
      return made
    } catch (error) {
      this.#answers.forget(id)
      throw error
    }
  }

  async changeMembers({ document, status }: ShownLoadBalancer, change: PoolChange): Promise<ShownLoadBalancer> {
    const { generation, updatedAt, put } = await this.#memberChanges.ask({ loadBalancerId: document.id, change })
    const pools = document.pools.map((pool) =>
      pool.id === change.poolId ? { ...pool, members: changedMembers(pool.members, put, change.remove) } : pool,
    )
    const made = { ...document, pools, generation, updatedAt }
    this.#answers.changed(made)
    return { document: made, status }
  }

  async changeRoutes({ document, status }: ShownLoadBalancer, change: RouteChange): Promise<ShownLoadBalancer> {
    const { listenerId, put: wanted, remove } = change
    const { generation, updatedAt, put } = await this.api.call<ChangedRoutes>(
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
    this.#answers.changed(made)
    return { document: made, status }
  }

  async replace(id: string, content: LoadBalancerContent): Promise<ShownLoadBalancer> {
    const made = splitAnswer(await this.api.call<AnsweredLoadBalancer>('PUT', `/load-balancers/${id}`, bodyOf(content)))
    this.#answers.changed(made.document)
    return made
  }

  async delete(id: string): Promise<void> {
    try {
      await this.api.call('DELETE', `/load-balancers/${id}`)
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'NotFound') throw error
    }
  }

  async withdrawal(id: string, waitMs: number): Promise<ShownWithdrawal> {
    type Answer = Pick<Withdrawal, 'withdrawn' | 'overdue' | 'waitingFor'>
    const path = `/load-balancers/${id}/withdrawal?waitMs=${waitMs}`
    try {
      const { withdrawn, overdue, waitingFor } = await this.api.call<Answer>('GET', path)
      return { withdrawn, overdue, waitingFor: waitingFor.map(({ nodeName }) => nodeName) }
    } catch (error) {
      // Another project uses or used this id, because clients choose ids. So there is nothing of ours to wait for.
      if (error instanceof Refused && error.code === 'NotFound')
        return { withdrawn: true, overdue: false, waitingFor: [] }
      throw error
    }
  }

  async addVip(id: string, vip: AddressCandidate): Promise<ShownLoadBalancer> {
    return splitAnswer(
      await this.api.call<AnsweredLoadBalancer>('POST', `/load-balancers/${id}/vips`, { from: 'pool', ...vip }),
    )
  }

  async removeVip(id: string, address: string): Promise<ShownLoadBalancer> {
    return splitAnswer(
      await this.api.call<AnsweredLoadBalancer>('DELETE', `/load-balancers/${id}/vips/${encodeURIComponent(address)}`),
    )
  }

  /** All followers share one watch of the control plane. */
  watch(signal: AbortSignal): AsyncIterable<LoadBalancerEvent> {
    return this.#watch.follow(signal)
  }

  async *#openWatch(signal: AbortSignal): AsyncIterable<LoadBalancerEvent> {
    const projectId = await this.projectId()
    yield { type: 'listing' }
    // Statuses have no revision from which to resume, so each watch begins with everything that exists.
    const told = new Map<string, AnsweredLoadBalancer>()
    const lines = this.api.watch<AnsweredLoadBalancer, ChangedLine>('/load-balancers', signal, { brief: '1' })
    for await (const line of lines) {
      if (line.type === 'BOOKMARK') yield { type: 'listed' }
      else if (line.type === 'DELETED') {
        told.delete(line.object.id)
        this.#answers.forget(line.object.id)
        yield { type: 'deleted', id: line.object.id }
      } else {
        const { id } = line.object
        const now = line.type === 'CHANGED' ? (edited(told.get(id), line.edits) as AnsweredLoadBalancer) : line.object
        const shown = this.#answers.likeAnswered(now)
        told.set(id, shown)
        if (shown.projectId === projectId) yield { type: 'shown', loadBalancer: splitAnswer(shown) }
      }
    }
  }

  async #createAll(all: readonly Creation[]): Promise<readonly Outcome<ShownLoadBalancer>[]> {
    const { results } = await this.api.call<{
      results: readonly ({ readonly loadBalancer: AnsweredLoadBalancer } | Failure)[]
    }>('POST', '/load-balancers/batch', { loadBalancers: all.map(creationBody) })
    return results.map((one) => ('error' in one ? failed(one) : { value: splitAnswer(one.loadBalancer) }))
  }

  async #changeAll(all: readonly QueuedMemberChange[]): Promise<readonly Outcome<ChangedMembers>[]> {
    const changes = all.map(({ loadBalancerId, change: { poolId, put, remove } }) => {
      return { loadBalancerId, pool: poolId, put, remove }
    })
    const { results } = await this.api.call<{ results: readonly (ChangedMembers | Failure)[] }>(
      'POST',
      '/load-balancers/member-changes',
      { changes },
    )
    return results.map((one) => ('error' in one ? failed(one) : { value: one }))
  }
}

/** The members after a change: one that was put replaces the member with its id, or is appended. */
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
