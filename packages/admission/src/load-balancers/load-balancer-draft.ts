import {
  httpRoute,
  type Listener,
  type LoadBalancer,
  listDifference,
  listener,
  loadBalancer,
  MOST_ROUTES,
  member,
  type Pool,
  parseAs,
  parsingAs,
  pool,
  SpoutError,
  sameJson,
  uuid,
} from '@spout/model'
import { fewStretchesOf } from '@spout/model/list-difference'
import type { Pieces } from '@spout/runtime'
import { z } from 'zod'
import type { LoadBalancerChange, LoadBalancerDraft } from '../contract/load-balancer-admission.ts'

const { name, description, tags, enabled, listeners, pools, annotations, projectId, nodeGroupId } = loadBalancer.shape
const { classId, zoneId, leftNodeId, securityGroupIds, dnsNames, dnsTtlSeconds } = loadBalancer.shape

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
  securityGroupIds,
  dnsNames,
  dnsTtlSeconds,
  annotations,
})

/** @throws SpoutError UnknownField, MissingField, InvalidField */
export const parseDraft = (input: LoadBalancerDraft): z.output<typeof draft> => parseAs(draft, input)

/** As `parseDraft`, in pieces. */
export const parsingDraft = (input: LoadBalancerDraft): Pieces<z.output<typeof draft>> => parsingAs(draft, input)

const plainFields = z
  .strictObject({
    ...{ name, description, tags, enabled, securityGroupIds, dnsNames, dnsTtlSeconds, leftNodeId, annotations },
  })
  .partial()

/**
 * The fields of a change that differ from the current document. Listeners, routes, pools and members that are the same
 * objects as in the current document were validated before, and so was a pool that differs only in its members, or a
 * listener in its routes. So adding a member costs one member's validation. It pauses before each member and route.
 * @throws SpoutError UnknownField, ImmutableField, MissingField, InvalidField
 */
export function* parsingChange(current: LoadBalancer, change: LoadBalancerChange): Pieces<LoadBalancerChange> {
  const { listeners: newListeners, pools: newPools, ...plain } = change
  for (const field of Object.keys(plain))
    if (Object.hasOwn(loadBalancer.shape, field) && !Object.hasOwn(plainFields.shape, field))
      throw new SpoutError('ImmutableField', { field })
  const parsed: LoadBalancerChange = {
    ...parseAs(plainFields, plain),
    ...(newListeners === undefined
      ? {}
      : { listeners: yield* parsingParts(LISTENERS, current.listeners, newListeners) }),
    ...(newPools === undefined ? {} : { pools: yield* parsingParts(POOLS, current.pools, newPools) }),
  }
  const differing = (Object.keys(parsed) as (keyof LoadBalancerChange)[]).filter(
    (field) => !sameJson(parsed[field], current[field]),
  )
  return Object.fromEntries(differing.map((field) => [field, parsed[field]]))
}

/** The model's limits, for lists whose items are validated one by one. */
export const MOST = { listeners: 1000, pools: 1000, members: 10_000, routes: MOST_ROUTES } as const

/** Made once: making a schema takes longer than using it. */
const LISTS = {
  listeners: z.array(z.unknown()).max(MOST.listeners),
  pools: z.array(z.unknown()).max(MOST.pools),
  members: z.array(z.unknown()).max(MOST.members),
  routes: z.array(z.unknown()).max(MOST.routes),
} as const

function listOf<T>(input: readonly T[], what: keyof typeof LISTS, path: string): readonly T[] {
  // Validating a list takes time for each item, even if the schema accepts any item.
  if (!Array.isArray(input) || input.length > MOST[what]) parseAs(LISTS[what], input, path)
  return input
}

/** A kind of parts, each with a list of parts of its own. */
interface PartKind<Part, List extends keyof Part & keyof typeof LISTS> {
  readonly what: 'listeners' | 'pools'
  readonly schema: z.ZodType<Part>
  readonly list: List
  readonly item: z.ZodType<Part[List] extends (infer Item)[] ? Item : never>
}
const LISTENERS: PartKind<Listener, 'routes'> = {
  ...{ what: 'listeners', schema: listener, list: 'routes', item: httpRoute },
}
const POOLS: PartKind<Pool, 'members'> = { what: 'pools', schema: pool, list: 'members', item: member }

function* parsingParts<Part extends { readonly id: string }, List extends keyof Part & keyof typeof LISTS>(
  kind: PartKind<Part, List>,
  current: readonly Part[],
  input: readonly Part[],
): Pieces<Part[]> {
  const known = new Set<unknown>(current)
  const parts: Part[] = []
  for (const [index, one] of listOf(input, kind.what, kind.what).entries()) {
    const before = current.find(({ id }) => id === one?.id)
    parts.push(known.has(one) ? one : yield* parsingPart(kind, one, `${kind.what}[${index}]`, before))
  }
  return parts
}

/** @param before the version before, whose items are known */
function* parsingPart<Part extends { readonly id: string }, List extends keyof Part & keyof typeof LISTS>(
  { schema, list, item }: PartKind<Part, List>,
  input: Part,
  path: string,
  before: Part | undefined,
): Pieces<Part> {
  const items: unknown = input?.[list]
  if (!Array.isArray(items)) return parseAs(schema, input, path)
  const head = hasFieldsOf(input, before, list) ? before : parseAs(schema, { ...input, [list]: [] }, path)
  if (items === before?.[list]) return { ...head, [list]: items }
  const all: readonly unknown[] = listOf(items, list, `${path}.${list}`)
  const known = (before?.[list] ?? []) as readonly unknown[]
  const parsed = [...all]
  for (const index of freshPlaces(known, all)) {
    yield
    parsed[index] = parseAs(item, all[index], `${path}.${list}[${index}]`)
  }
  // The store would freeze it anyway. All who compare it with the version before share what the first of them finds.
  return { ...head, [list]: Object.freeze(parsed) }
}

/** The indexes of items that the known list does not have. */
function* freshPlaces(known: readonly unknown[], all: readonly unknown[]): Generator<number> {
  const stretches = fewStretchesOf(known, all)
  if (stretches === null) {
    const fresh = new Set(known.length === 0 ? all : listDifference(known, all).come)
    for (const [index, one] of all.entries()) if (fresh.has(one)) yield index
    return
  }
  for (const { at, count, from } of stretches)
    for (let index = at; from === null && index < at + count; index++) yield index
}

/** Whether it is the known part with another list: all other fields are the same values and objects. */
function hasFieldsOf<Part extends object>(input: Part, before: Part | undefined, list: keyof Part): before is Part {
  if (before === undefined) return false
  const fields = Object.keys(input) as (keyof Part)[]
  return (
    fields.length === Object.keys(before).length &&
    fields.every((field) => field === list || (Object.hasOwn(before, field) && input[field] === before[field]))
  )
}
