import { type Address, type LoadBalancer, SpoutError } from '@spout/model'
import { atOnce, inPieces, type Pieces, piecesOf } from '@spout/runtime'
import type { Write } from '@spout/store'
import { claimCertificates } from '../claims/certificate-claims.ts'
import type { Claim } from '../claims/claims.ts'
import { type AdmissionContext, find, newMeta, putNew, putOver, timestampOf, transact } from '../claims/context.ts'
import { requireProject } from '../claims/projects-of.ts'
import type { LoadBalancerChange, LoadBalancerDraft, MemberChange, Turn } from '../contract/load-balancer-admission.ts'
import type { NewPlacement } from '../contract/placing.ts'
import { claimDnsNames } from '../domains/dns-names.ts'
import { checkServedHosts } from '../domains/served-hosts.ts'
import { claimSecurityGroups } from '../networks/security-groups.ts'
import { type NewAddressRequest, ownWrite, takeAddress } from '../nodes/addresses.ts'
import { claimOfClass } from '../offers/class-quota.ts'
import { checkedNetworkId, findingNetworkOf, type KnownNetwork, mattersToNodes } from './load-balancer-check.ts'
import { parseDraft, parsingChange, parsingDraft } from './load-balancer-draft.ts'
import { checkZoneOfVip, placeOf } from './load-balancer-place.ts'
import { LoadBalancerQueue, type Step } from './load-balancer-queue.ts'
import { claimRoom } from './load-balancer-room.ts'
import { planVips, releaseVips, vipOf } from './load-balancer-vips.ts'
import { type PreparedMembers, preparingMembers, withMembers } from './member-change.ts'
import { orderedId } from './ordered-id.ts'

/** A change that was made in pieces. */
interface LongChange {
  /** The version that it was made from. */
  readonly current: LoadBalancer
  /** The fields that differ. */
  readonly fields: LoadBalancerChange
  readonly next: LoadBalancer
  /** The network of its members; null if it was not looked up. */
  readonly network: KnownNetwork | null
}

/** Creates, changes and deletes load balancers, each in one commit with their addresses. */
export class LoadBalancers {
  readonly #context: AdmissionContext
  readonly #queue: LoadBalancerQueue

  constructor(context: AdmissionContext) {
    this.#context = context
    this.#queue = new LoadBalancerQueue(context)
  }

  async create(input: LoadBalancerDraft, turn?: Turn): Promise<LoadBalancer> {
    const context = this.#context
    const draft = turn === undefined ? parseDraft(input) : await inPieces(parsingDraft(input), turn)
    const plan = (claim: Claim) => {
      const { projectId } = draft
      requireProject(context, projectId)
      const place = placeOf(context, claim, draft)
      const drawn = newMeta(context, draft)
      const meta = { ...drawn, id: draft.id ?? orderedId(drawn.id, context.now()) }
      if (draft.id !== undefined && context.view.get('loadBalancer', draft.id) !== null)
        throw new SpoutError('AlreadyExists', { what: 'Load balancer', id: draft.id })
      const { vips, writes } = planVips(context, claim, { ...draft, id: meta.id }, draft.vips)
      checkZoneOfVip(context, place, vips[0])
      const loadBalancer: LoadBalancer = {
        ...draft,
        ...place,
        ...meta,
        generation: 1,
        networkId: null,
        vips: [...vips],
      }
      const created = { ...loadBalancer, networkId: checkedNetworkId(context, loadBalancer) }
      claimRoom(context, claim, null, created)
      claimOfClass(context, claim, created)
      claimCertificates(claim, created)
      claimSecurityGroups(context, claim, created)
      claimDnsNames(context, claim, created)
      checkServedHosts(context, created)
      const placed = context.placing()?.placeNew(created)
      const all = [putNew('loadBalancer', created), ...(placed ? [placementOf(created, placed)] : []), ...writes]
      return { writes: all, result: created, settle: placed?.settle }
    }
    return transact(context, plan, turn)
  }

  async change(id: string, change: (current: LoadBalancer) => LoadBalancerChange): Promise<LoadBalancer> {
    const step: Step = (current, claim) => {
      const fields = atOnce(parsingChange(current, change(current)))
      return this.#changed(claim, current, fields, this.#renewed(current, fields))
    }
    return existing(id, await this.#queue.run(id, step, { alone: false }))
  }

  async changeLong(
    id: string,
    change: (current: LoadBalancer) => Pieces<LoadBalancerChange>,
    turn: Turn,
  ): Promise<LoadBalancer> {
    let ready: LongChange | null = null
    const prepare = async (current: LoadBalancer) => {
      ready = await inPieces(this.#preparing(current, change), turn)
    }
    const step: Step = (current, claim) => {
      const { fields, next, network } = ready?.current === current ? ready : atOnce(this.#preparing(current, change))
      return this.#changed(claim, current, fields, next, network)
    }
    return existing(id, await this.#queue.run(id, step, { alone: true, long: { prepare, turn } }))
  }

  /** Makes and checks what depends on the load balancer alone. */
  *#preparing(
    current: LoadBalancer,
    change: (current: LoadBalancer) => Pieces<LoadBalancerChange>,
  ): Pieces<LongChange> {
    const fields = yield* parsingChange(current, yield* change(current))
    const next = this.#renewed(current, fields)
    yield* this.#context.index.measuring(next, current)
    const isAboutMembers = fields.listeners !== undefined || fields.pools !== undefined
    const network = isAboutMembers ? yield* findingNetworkOf(this.#context, next) : null
    return { current, fields, next, network }
  }

  /**
   * Checks and claims what depends on other objects. @param renewed the current version with the fields of the change
   */
  #changed(
    claim: Claim,
    current: LoadBalancer,
    fields: LoadBalancerChange,
    renewed: LoadBalancer,
    network: KnownNetwork | null = null,
  ): ReturnType<Step> {
    if (Object.keys(fields).length === 0) return { next: current, writes: [] }
    const next = this.#inItsNetwork(current, fields, renewed, network)
    claimRoom(this.#context, claim, current, next)
    claimCertificates(claim, next)
    if (fields.securityGroupIds !== undefined) claimSecurityGroups(this.#context, claim, next)
    if (fields.dnsNames !== undefined) claimDnsNames(this.#context, claim, next, current.dnsNames)
    if (fields.listeners !== undefined) checkServedHosts(this.#context, next, current.listeners)
    return { next, writes: [] }
  }

  async changeMembers(
    id: string,
    change: (current: LoadBalancer) => MemberChange | Pieces<MemberChange>,
    turn?: Turn,
  ): Promise<LoadBalancer> {
    const context = this.#context
    let ready: PreparedMembers | null = null
    const preparing = function* (current: LoadBalancer) {
      const made = yield* piecesOf(change(current))
      return yield* preparingMembers(context, current, made, timestampOf(context.now()))
    }
    const step: Step = (current, claim) => {
      const prepared = ready?.current === current ? ready : atOnce(preparing(current))
      return { next: withMembers(context, claim, prepared), writes: [] }
    }
    if (turn === undefined) return existing(id, await this.#queue.run(id, step, { alone: false }))
    const prepare = async (current: LoadBalancer) => {
      ready = await inPieces(preparing(current), turn)
    }
    return existing(id, await this.#queue.run(id, step, { alone: true, long: { prepare, turn } }))
  }

  async delete(id: string, { cascade }: { readonly cascade: boolean }): Promise<void> {
    const step: Step = (current) => {
      const children = [
        ...(current.listeners.length > 0 ? ['listeners'] : []),
        ...(current.pools.length > 0 ? ['pools'] : []),
      ]
      if (!cascade && children.length > 0)
        throw new SpoutError('HasChildren', { what: 'load balancer', id, children: children.join(' and ') })
      return { next: null, writes: releaseVips(this.#context, current) }
    }
    await this.#queue.run(id, step, { alone: true })
  }

  async addVip(id: string, request: NewAddressRequest): Promise<LoadBalancer> {
    const step: Step = (current, claim) => {
      if (current.vips.length >= 16)
        throw new SpoutError('InvalidField', { field: 'vips', reason: 'there are 16 already' })
      const text = { name: '', description: '' }
      const use = { projectId: current.projectId, use: 'vip', ownerId: id, ...text } as const
      const { address, write } = takeAddress(this.#context, claim, request, '', use)
      const next = this.#renewed(current, { vips: [...current.vips, vipOf(address)] })
      checkedNetworkId(this.#context, next)
      return { next, writes: [write] }
    }
    return existing(id, await this.#queue.run(id, step, { alone: true }))
  }

  async removeVip(id: string, address: string): Promise<LoadBalancer> {
    const step: Step = (current) => {
      const at = current.vips.findIndex((vip) => vip.address === address)
      const vip = current.vips[at]
      if (vip === undefined) throw new SpoutError('NotFound', { what: 'address', id: address })
      if (at === 0)
        throw new SpoutError('InvalidField', { field: 'vips[0]', reason: 'is the first address, which stays' })
      const [floating] = this.#context.index.floatingOf(vip.addressId)
      if (floating !== undefined)
        throw new SpoutError('InUse', { what: 'address', id: address, user: `floating IP ${floating.address}` })
      if (this.#context.view.addressByPort(vip.addressId)?.use === 'floating')
        throw new SpoutError('InvalidField', { field: `vips[${at}]`, reason: 'is a floating IP: unbind it' })
      const vips = current.vips.filter((one) => one !== vip)
      return {
        next: this.#renewed(current, { vips }),
        writes: releaseVips(this.#context, { ...current, vips: [vip] }),
      }
    }
    return existing(id, await this.#queue.run(id, step, { alone: true }))
  }

  /** Adds a floating IP to the load balancer's VIPs, bound to the port of another VIP. */
  async bindFloating(id: string, floating: Address, targetPortId: string): Promise<void> {
    const step: Step = (current) => {
      const next = this.#withFloating(current, floating)
      return { next, writes: next === current ? [] : ownWrite(this.#context, floating, targetPortId) }
    }
    await this.#queue.run(id, step, { alone: true })
  }

  async unbindFloating(id: string, floating: Address): Promise<void> {
    const step: Step = (current) => ({
      next: this.#withoutFloating(current, floating),
      writes: ownWrite(this.#context, floating, null),
    })
    await this.#queue.run(id, step, { alone: true })
  }

  /** Moves a floating IP to the port of another load balancer's VIP, in one commit: it is always with one of them. */
  async moveFloating(from: string, to: string, floating: Address, targetPortId: string): Promise<void> {
    const step: Step = (current) => {
      const target = find(this.#context, 'loadBalancer', to, 'load balancer')
      const taken = putOver('loadBalancer', target, this.#withFloating(target.value, floating))
      const writes = [taken, ...ownWrite(this.#context, floating, targetPortId)]
      return { next: this.#withoutFloating(current, floating), writes }
    }
    await this.#queue.run(from, step, { alone: true })
  }

  #withFloating(current: LoadBalancer, floating: Address): LoadBalancer {
    if (current.vips.some((vip) => vip.addressId === floating.portId)) return current
    if (current.vips.length >= 16)
      throw new SpoutError('InvalidField', { field: 'vips', reason: 'there are 16 already' })
    return this.#renewed(current, { vips: [...current.vips, vipOf(floating)] })
  }

  #withoutFloating(current: LoadBalancer, floating: Address): LoadBalancer {
    return this.#renewed(current, { vips: current.vips.filter((vip) => vip.addressId !== floating.portId) })
  }

  #inItsNetwork(
    current: LoadBalancer,
    fields: LoadBalancerChange,
    next: LoadBalancer,
    network: KnownNetwork | null,
  ): LoadBalancer {
    if (fields.listeners === undefined && fields.pools === undefined) return next
    const networkId = checkedNetworkId(this.#context, next, network)
    return networkId === current.networkId ? next : this.#renewed(current, { ...fields, networkId })
  }

  #renewed(current: LoadBalancer, fields: Partial<LoadBalancer>): LoadBalancer {
    const next = { ...current, ...fields, updatedAt: timestampOf(this.#context.now()) }
    return mattersToNodes(current, next) ? { ...next, generation: current.generation + 1 } : next
  }
}

const placementOf = ({ projectId }: LoadBalancer, { placement }: NewPlacement): Write =>
  putNew('placement', placement, projectId)

function existing(id: string, loadBalancer: LoadBalancer | null): LoadBalancer {
  if (loadBalancer === null) throw new SpoutError('NotFound', { what: 'load balancer', id })
  return loadBalancer
}
