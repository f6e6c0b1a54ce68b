import { isDeepStrictEqual } from 'node:util'
import {
  type LoadBalancer,
  listener,
  loadBalancer,
  type Member,
  member,
  type Pool,
  parseAs,
  pool,
  SpoutError,
  uuid,
} from '@spout/model'
import { z } from 'zod'
import type { LoadBalancerChange, LoadBalancerDraft } from './contract/load-balancer-admission.ts'

const { name, description, tags, enabled, listeners, pools, annotations, projectId, nodeGroupId } = loadBalancer.shape

const addressText = z.string().max(128).nullable()

/** `takeAddress` checks the address itself, because it knows its path. */
export const vipRequest = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('pool'), poolId: uuid, address: addressText }),
  z.strictObject({ from: z.literal('subnet'), networkId: uuid, subnetId: uuid, address: addressText }),
  z.strictObject({ from: z.literal('port'), portId: uuid }),
])

const draft = z.strictObject({
  id: uuid.optional(),
  projectId,
  name,
  description,
  tags,
  enabled,
  vips: z.array(vipRequest).min(1).max(16),
  listeners,
  pools,
  nodeGroupId,
  annotations,
})

/** @throws SpoutError UnknownField, MissingField, InvalidField */
export const parseDraft = (input: LoadBalancerDraft): z.output<typeof draft> => parseAs(draft, input)

const plainFields = z.strictObject({ name, description, tags, enabled, annotations }).partial()

/**
 * The fields of a change that differ from the current document. Listeners, pools and members that are the same objects
 * as in the current document were validated before, so adding a member costs one member's validation.
 * @throws SpoutError UnknownField, ImmutableField, MissingField, InvalidField
 */
export function parseChange(current: LoadBalancer, change: LoadBalancerChange): LoadBalancerChange {
  const { listeners: newListeners, pools: newPools, ...plain } = change
  for (const field of Object.keys(plain))
    if (Object.hasOwn(loadBalancer.shape, field) && !Object.hasOwn(plainFields.shape, field))
      throw new SpoutError('ImmutableField', { field })
  const parsed: LoadBalancerChange = {
    ...parseAs(plainFields, plain),
    ...(newListeners === undefined ? {} : { listeners: parseListeners(current, newListeners) }),
    ...(newPools === undefined ? {} : { pools: parsePools(current, newPools) }),
  }
  const differing = (Object.keys(parsed) as (keyof LoadBalancerChange)[]).filter(
    (field) => !isDeepStrictEqual(parsed[field], current[field]),
  )
  return Object.fromEntries(differing.map((field) => [field, parsed[field]]))
}

/** The model's limits, for lists whose items are validated one by one. */
export const MOST = { listeners: 1000, pools: 1000, members: 10_000 } as const

function listOf<T>(input: readonly T[], most: number, path: string): readonly T[] {
  parseAs(z.array(z.unknown()).max(most), input, path)
  return input
}

function parseListeners(current: LoadBalancer, input: LoadBalancer['listeners']): LoadBalancer['listeners'] {
  const known = new Set<unknown>(current.listeners)
  return listOf(input, MOST.listeners, 'listeners').map((one, index) =>
    known.has(one) ? one : parseAs(listener, one, `listeners[${index}]`),
  )
}

function parsePools(current: LoadBalancer, input: LoadBalancer['pools']): LoadBalancer['pools'] {
  const known = new Set<unknown>(current.pools)
  const knownMembers = new Set<unknown>(current.pools.flatMap((one) => one.members))
  return listOf(input, MOST.pools, 'pools').map((one, index) =>
    known.has(one) ? one : parsePool(one, `pools[${index}]`, knownMembers),
  )
}

function parsePool(input: Pool, path: string, knownMembers: ReadonlySet<unknown>): Pool {
  if (!Array.isArray(input?.members)) return parseAs(pool, input, path)
  const members = listOf(input.members, MOST.members, `${path}.members`)
  return {
    ...parseAs(pool, { ...input, members: [] }, path),
    members: members.map(
      (one, index): Member => (knownMembers.has(one) ? one : parseAs(member, one, `${path}.members[${index}]`)),
    ),
  }
}
