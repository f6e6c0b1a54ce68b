import type { Attributes } from '@spout/octavia-client'
import { differences } from './compare.ts'
import { type Found, type Inventory, nameOf, type Unread } from './inventory.ts'
import { type ChildKind, KIND_ROWS, type Kind, textOf } from './kinds.ts'
import { type PortOwner, SurroundingsPlan } from './plan-surroundings.ts'
import type { Surroundings } from './read-surroundings.ts'
import type { PlanOptions, Step, Trial } from './step.ts'
import { type Note, NotTaken, projectOf, translate } from './translate.ts'

export interface ImportPlan {
  readonly steps: readonly Step[]
  /** Lists that could not be read. The plan lacks their objects. */
  readonly unread: readonly Unread[]
}

/** One of the two clouds: its load balancers, and the objects around them. */
export interface Side {
  readonly inventory: Inventory
  readonly surroundings: Surroundings
}

/** Compares both sides. Pure. Objects that exist in Spout stay as they are. */
export function planImport(source: Side, target: Side, options: PlanOptions): ImportPlan {
  const around = new SurroundingsPlan(source.surroundings, target.surroundings, options)
  const within = { ...options, destination: around.destination }
  const { loadBalancers, children, unread } = source.inventory
  const steps = loadBalancers.flatMap((loadBalancer) => {
    const { id, attributes } = loadBalancer
    const plan = new LoadBalancerPlan(loadBalancer, children.get(id) ?? [], target.inventory, within)
    const own = plan.steps()
    const [first, ...others] = own
    if (first === undefined) return own
    const taken = first.result !== 'refused'
    const owner: PortOwner = {
      ...{ id, title: first.title, projectId: taken ? plan.projectId : null },
      theirPort: attributes['vip_port_id'],
      ourPort: target.inventory.byId.get(id)?.attributes['vip_port_id'],
    }
    const needs = [...first.needs, ...around.needsOf(first.request?.body ?? {})]
    return [{ ...first, needs }, ...others, ...around.floatingSteps(owner)]
  })
  return { steps: [...around.steps, ...steps], unread: [...unread, ...source.surroundings.unread] }
}

type StepResult = Pick<Step, 'result' | 'notes' | 'request'>

class LoadBalancerPlan {
  readonly #loadBalancer: Found
  readonly #children: readonly Found[]
  readonly #target: Inventory
  readonly #options: PlanOptions
  readonly #trial: Trial
  /** Objects that will not exist in Spout: their titles by id. */
  readonly #lost = new Map<string, string>()
  #projectId: string | null = null

  constructor(loadBalancer: Found, children: readonly Found[], target: Inventory, options: PlanOptions) {
    this.#loadBalancer = loadBalancer
    this.#children = children
    this.#target = target
    this.#options = options
    this.#trial = options.newTrial()
  }

  /** The project in Spout; null while it is not known. */
  get projectId(): string | null {
    return this.#projectId
  }

  steps(): readonly Step[] {
    return [this.#loadBalancer, ...this.#children].map((found) => {
      const needs = needsOf(found)
      const step: Step = {
        ...{ kind: found.kind, id: found.id, title: nameOf(found), loadBalancerId: this.#loadBalancer.id, needs },
        ...this.#result(found, needs),
      }
      if (step.result === 'refused') this.#lost.set(step.id, step.title)
      return step
    })
  }

  #result(found: Found, needs: readonly string[]): StepResult {
    try {
      const missing = needs.find((id) => this.#lost.has(id))
      if (missing !== undefined)
        throw new NotTaken(fieldOf(found, missing), `${this.#lost.get(missing)} is not taken over`)
      if (found.kind === 'loadbalancer') this.#projectId = projectOf(found, this.#options)
      const { body: own, notes } = translate(found, this.#projectId, this.#options)
      const ours = this.#target.byId.get(found.id)
      if (ours?.kind !== found.kind) return this.#creation(found, own, notes)
      const body = this.#whole(found, own)
      this.#trial.add(found.kind, body, found.parentId)
      const differing = differences(found, ...this.#inOrder(found, own, ours))
      return { result: differing.length > 0 ? 'differs' : 'equal', notes: differing, request: null }
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error
      return { result: 'refused', notes: [error.note], request: null }
    }
  }

  /**
   * The attributes of both objects, with positions counted among the policies that both clouds have: a policy that only
   * one cloud has shifts the positions of the others, which is no difference between them.
   */
  #inOrder({ kind, id, parentId }: Found, own: Attributes, { attributes }: Found): [Attributes, Attributes] {
    if (kind !== 'l7policy') return [own, attributes]
    const ids = this.#children.flatMap((one) => (one.kind === kind && one.parentId === parentId ? [one.id] : []))
    const both = ids.flatMap((one) => this.#target.byId.get(one) ?? [])
    const here = both.toSorted((a, b) => Number(a.attributes['position']) - Number(b.attributes['position']))
    const at = (order: readonly Found[]): number => 1 + order.findIndex((one) => one.id === id)
    return [
      { ...own, position: at(both) },
      { ...attributes, position: at(here) },
    ]
  }

  #creation(found: Found, own: Attributes, notes: readonly Note[]): StepResult {
    const { kind, parentId } = found
    const inParent = kind === 'rule' && !this.#target.byId.has(parentId ?? '')
    if (inParent) return { result: 'create', notes, request: null }
    const body = this.#whole(found, own)
    const fault = this.#trial.add(kind, body, parentId)
    if (fault !== null) throw new NotTaken('refused', fault)
    return { result: 'create', notes, request: { path: pathOf(found), root: kind, body } }
  }

  /**
   * The body of the request that creates the object: with its id, its parent and, for a policy, its rules. Creating the
   * rules apart would take more requests.
   */
  #whole({ kind, id, parentId }: Found, own: Attributes): Attributes {
    const parent = PARENT_FIELD[kind]
    const rules =
      kind === 'l7policy'
        ? this.#children
            .filter((child) => child.kind === 'rule' && child.parentId === id)
            .map((rule) => ({ id: rule.id, ...translate(rule, this.#projectId, this.#options).body }))
        : []
    return { id, ...own, ...(parent && { [parent]: parentId }), ...(rules.length > 0 && { rules }) }
  }
}

/** The attribute that names the parent in the body of a creation. For members and rules the path names it. */
const PARENT_FIELD: Readonly<Partial<Record<Kind, string>>> = {
  pool: 'loadbalancer_id',
  listener: 'loadbalancer_id',
  healthmonitor: 'pool_id',
  l7policy: 'listener_id',
}

function pathOf({ kind, parentId }: Found): string {
  if (kind === 'member') return `/pools/${parentId}/members`
  if (kind === 'rule') return `/l7policies/${parentId}/rules`
  return `/${KIND_ROWS[kind].plural}`
}

const POOL_FIELD: Readonly<Partial<Record<Kind, string>>> = {
  listener: 'default_pool_id',
  l7policy: 'redirect_pool_id',
}

function needsOf({ kind, parentId, attributes }: Found): readonly string[] {
  const pool = textOf(attributes[POOL_FIELD[kind] ?? ''])
  return [...(parentId === null ? [] : [parentId]), ...(pool === null ? [] : [pool])]
}

const PARENT_WORD: Readonly<Record<ChildKind, string>> = {
  pool: 'loadbalancers',
  listener: 'loadbalancers',
  member: 'pool',
  healthmonitor: 'pools',
  l7policy: 'listener_id',
  rule: 'l7policy',
}

/** The attribute by which an object names what it needs. */
export function fieldOf({ kind, parentId }: Pick<Found, 'kind' | 'parentId'>, needed: string): string {
  return needed === parentId ? PARENT_WORD[kind as ChildKind] : (POOL_FIELD[kind] ?? 'id')
}
