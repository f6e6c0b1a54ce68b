import type { Attributes } from '@spout/octavia-client'
import { ApiRefusal, type OctaviaClient } from '@spout/octavia-client'
import { type ChildKind, KIND_ROWS, type Kind, textOf } from './kinds.ts'

/** An object that one of the two clouds has. */
export interface Found {
  readonly kind: Kind
  readonly id: string
  /** Id of the object that contains it. For pools and listeners this is the load balancer; null for a load balancer. */
  readonly parentId: string | null
  readonly attributes: Attributes
}

/** A list that could not be read, and why. */
export interface Unread {
  readonly path: string
  readonly reason: string
}

/** The load balancers of one cloud, and everything in them. */
export interface Inventory {
  readonly loadBalancers: readonly Found[]
  /** By load balancer, in an order in which the objects can be created. */
  readonly children: ReadonlyMap<string, readonly Found[]>
  readonly byId: ReadonlyMap<string, Found>
  readonly unread: readonly Unread[]
}

/** Whether the user asked for this load balancer. */
export type Wanted = (loadBalancer: Attributes) => boolean

/**
 * Reads one side through its API.
 * @throws ApiRefusal when the lists cannot be read; a list inside one object that cannot be is in `unread`
 */
export async function readInventory(client: OctaviaClient, wanted: Wanted): Promise<Inventory> {
  const unread: Unread[] = []
  const inside = async (path: string): Promise<readonly Attributes[]> => {
    try {
      return await client.list(path)
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error
      unread.push({ path, reason: error.message })
      return []
    }
  }
  const all = await client.list('/loadbalancers')
  const loadBalancers = all.filter(wanted).map((attributes) => found('loadbalancer', attributes, null))
  const known = new Set(loadBalancers.map(({ id }) => id))
  const children: Found[] = []
  const take = (kind: ChildKind, items: readonly Attributes[], parentOf: (item: Attributes) => string | null): void => {
    for (const item of items) {
      const parentId = parentOf(item)
      if (!known.has(parentId ?? '')) continue
      const child = found(kind, item, parentId)
      known.add(child.id)
      children.push(child)
    }
  }
  const of = (kind: ChildKind): readonly Found[] => children.filter((child) => child.kind === kind)
  take('pool', await client.list('/pools'), (pool) => firstId(pool['loadbalancers']))
  for (const { id } of of('pool')) take('member', await inside(`/pools/${id}/members`), () => id)
  take('healthmonitor', await client.list('/healthmonitors'), (monitor) => firstId(monitor['pools']))
  take('listener', await client.list('/listeners'), (listener) => firstId(listener['loadbalancers']))
  const policies = await client.list('/l7policies')
  const byPosition = policies.toSorted((a, b) => Number(a['position']) - Number(b['position']))
  take('l7policy', byPosition, (policy) => textOf(policy['listener_id']))
  for (const { id } of of('l7policy')) take('rule', await inside(`/l7policies/${id}/rules`), () => id)
  const byParent = Map.groupBy(children, ({ parentId }) => parentId)
  return {
    loadBalancers,
    children: new Map(loadBalancers.map(({ id }) => [id, [...below(id, byParent)]])),
    byId: new Map([...loadBalancers, ...children].map((one) => [one.id, one])),
    unread,
  }
}

/**
 * Yields an object before the objects in it. Otherwise the order stays, so pools come before the listeners that name
 * them.
 */
function* below(id: string, byParent: ReadonlyMap<string | null, readonly Found[]>): Generator<Found> {
  for (const child of byParent.get(id) ?? []) {
    yield child
    yield* below(child.id, byParent)
  }
}

const found = (kind: Kind, attributes: Attributes, parentId: string | null): Found => ({
  ...{ kind, parentId, attributes },
  id: String(attributes['id']),
})

/** The id in `[{"id": …}]`. */
function firstId(references: unknown): string | null {
  const [first] = Array.isArray(references) ? (references as readonly Attributes[]) : []
  return textOf(first?.['id'])
}

/** `load balancer web`; an object without a name by its address, port or id. */
export function nameOf({ kind, id, attributes }: Pick<Found, 'kind' | 'id' | 'attributes'>): string {
  const { name, address, protocol_port: port, floating_ip_address: floating } = attributes
  const title =
    textOf(name) ?? textOf(floating) ?? (kind === 'member' ? `${String(address)} port ${String(port)}` : null)
  if (kind === 'availability_zone') return `${KIND_ROWS[kind].word} ${id}`
  return `${KIND_ROWS[kind].word} ${title === null ? id : `${title} (${id})`}`
}
