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
const { classId, zoneId, leftNodeId } = loadBalancer.shape

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
  classId,
  zoneId,
  annotations,
})

/** @throws SpoutError UnknownField, MissingField, InvalidField */
export const parseDraft = (input: LoadBalancerDraft): z.output<typeof draft> => parseAs(draft, input)

const plainFields = z.strictObject({ name, description, tags, enabled, leftNodeId, annotations }).partial()

/**
 * The fields of a change that differ from the current document. Listeners, pools and members that are the same objects
 * as in the current document were validated before, and so was a pool that differs only in its members. So adding a
 * member costs one member's validation.
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

/** Made once: making a schema takes longer than using it. */
const LISTS = {
  listeners: z.array(z.unknown()).max(MOST.listeners),
  pools: z.array(z.unknown()).max(MOST.pools),
  members: z.array(z.unknown()).max(MOST.members),
} as const

function listOf<T>(input: readonly T[], what: keyof typeof LISTS, path: string): readonly T[] {
  parseAs(LISTS[what], input, path)
  return input
}

function parseListeners(current: LoadBalancer, input: LoadBalancer['listeners']): LoadBalancer['listeners'] {
  const known = new Set<unknown>(current.listeners)
  return listOf(input, 'listeners', 'listeners').map((one, index) =>
    known.has(one) ? one : parseAs(listener, one, `listeners[${index}]`),
  )
}

function parsePools(current: LoadBalancer, input: LoadBalancer['pools']): LoadBalancer['pools'] {
  const known = new Set<unknown>(current.pools)
  const knownMembers = new Set<unknown>(current.pools.flatMap((one) => one.members))
  return listOf(input, 'pools', 'pools').map((one, index) => {
    if (known.has(one)) return one
    const before = current.pools.find(({ id }) => id === one?.id)
    return parsePool(one, `pools[${index}]`, before, knownMembers)
  })
}

function parsePool(input: Pool, path: string, before: Pool | undefined, knownMembers: ReadonlySet<unknown>): Pool {
  if (!Array.isArray(input?.members)) return parseAs(pool, input, path)
  const members = listOf(input.members, 'members', `${path}.members`)
  return {
    ...(hasFieldsOf(input, before) ? before : parseAs(pool, { ...input, members: [] }, path)),
    members: members.map(
      (one, index): Member => (knownMembers.has(one) ? one : parseAs(member, one, `${path}.members[${index}]`)),
    ),
  }
}

/** Whether it is the known pool with other members: all other fields are the same values and objects. */
function hasFieldsOf(input: Pool, before: Pool | undefined): before is Pool {
  if (before === undefined) return false
  const fields = Object.keys(input) as (keyof Pool)[]
  return (
    fields.length === Object.keys(before).length &&
    fields.every((field) => field === 'members' || (Object.hasOwn(before, field) && input[field] === before[field]))
  )
}
