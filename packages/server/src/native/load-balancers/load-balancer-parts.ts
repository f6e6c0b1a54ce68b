import type { LoadBalancerChange } from '@spout/admission/contract'
import {
  CHECK_SETTINGS_FIELDS,
  type HealthMonitor,
  type Listener,
  type LoadBalancer,
  listener,
  type Pool,
  parsingAs,
  pool,
  SpoutError,
  settingsFieldOf,
  usedPoolIds,
} from '@spout/model'
import { type Pieces, piecesOf } from '@spout/runtime'
import type { z } from 'zod'
import { listenerDraft, poolDraft } from '../drafts/load-balancer-draft.ts'
import { Parts } from '../drafts/parts.ts'
import { find } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import { merged, mergeOf } from '../operations/merge-change.ts'
import { type Call, type Route, route } from '../operations/route.ts'
import { changeOwn, LOAD_BALANCERS, monitorDefaultsOf, requireVersion } from './load-balancers.ts'

const tag = 'load-balancers'
const root = '/load-balancers/:id'

/** What listeners and pools have in common as parts of a load balancer. */
interface PartKind<T extends { readonly id: string }, S extends z.ZodObject> {
  readonly plural: 'listeners' | 'pools'
  readonly what: 'Listener' | 'Pool'
  readonly schema: z.ZodType
  readonly draft: S
  /** Its list that may have thousands of items. */
  readonly list: keyof T & string
  readonly of: (loadBalancer: LoadBalancer) => readonly T[]
  readonly make: (parts: Parts, draft: z.output<S>, current: LoadBalancer) => Pieces<T>
  readonly replace: (all: T[]) => LoadBalancerChange
  /** Stored fields that a change overrides implicitly, so that the result is consistent. */
  readonly givesWay: (stored: T, change: Fields) => Fields
  /** @throws SpoutError while something refers to it */
  readonly refuseRemoval: (part: T, current: LoadBalancer) => void
}

export const LISTENERS: PartKind<Listener, typeof listenerDraft> = {
  plural: 'listeners',
  what: 'Listener',
  schema: listener,
  draft: listenerDraft,
  list: 'routes',
  of: (loadBalancer) => loadBalancer.listeners,
  make: (parts, draft, current) => parts.listener(draft, current.pools, ''),
  replace: (listeners) => ({ listeners }),
  // `defaultPool` and `defaultPoolId` name the same thing.
  givesWay: (_stored, { defaultPool }) => (defaultPool === undefined ? {} : { defaultPoolId: null }),
  refuseRemoval: () => {},
}

export const POOLS: PartKind<Pool, typeof poolDraft> = {
  plural: 'pools',
  what: 'Pool',
  schema: pool,
  draft: poolDraft,
  list: 'members',
  of: (loadBalancer) => loadBalancer.pools,
  make: (parts, draft) => parts.pool(draft, ''),
  replace: (pools) => ({ pools }),
  // A monitor that gets another type loses the settings of the type before.
  givesWay: ({ monitor }, change) => {
    const type = (change.monitor as Partial<HealthMonitor> | null | undefined)?.type
    if (monitor === null || type === undefined) return {}
    const others = CHECK_SETTINGS_FIELDS.filter((field) => field !== settingsFieldOf(type))
    return { monitor: { ...monitor, ...Object.fromEntries(others.map((field) => [field, null])) } }
  },
  refuseRemoval: ({ id }, current) => {
    const user = current.listeners.find((known) => usedPoolIds([known]).has(id))
    if (user !== undefined) throw new SpoutError('InUse', { what: 'Pool', id, user: `listener ${user.id}` })
  },
}

type Fields = Readonly<Record<string, unknown>>

const partRoutes = <T extends { readonly id: string }, S extends z.ZodObject>(
  kind: PartKind<T, S>,
): readonly Route[] => [
  listRoute(kind),
  showRoute(kind),
  addRoute(kind),
  replaceRoute(kind),
  changeRoute(kind),
  removeRoute(kind),
]

const partsOf = <T extends { readonly id: string }, S extends z.ZodObject>(
  kind: PartKind<T, S>,
  context: NativeContext,
  { principal, params }: Who,
): readonly T[] => kind.of(find(LOAD_BALANCERS, context, principal, params.id ?? ''))

const listRoute = <T extends { readonly id: string }, S extends z.ZodObject>(kind: PartKind<T, S>): Route =>
  route({
    method: 'GET',
    path: `${root}/${kind.plural}`,
    tag,
    summary: `List its ${kind.plural}`,
    access: 'reader',
    body: null,
    answer: { status: 200, schema: kind.schema, list: true },
    handle: (context, call) => ({ items: partsOf(kind, context, call) }),
  })

const showRoute = <T extends { readonly id: string }, S extends z.ZodObject>(kind: PartKind<T, S>): Route =>
  route({
    method: 'GET',
    path: `${root}/${kind.plural}/:part`,
    tag,
    summary: `Show a ${kind.what.toLowerCase()}`,
    access: 'reader',
    body: null,
    answer: { status: 200, schema: kind.schema },
    handle: (context, call) => partOf(partsOf(kind, context, call), call.params.part, kind.what),
  })

const addRoute = <T extends { readonly id: string }, S extends z.ZodObject>(kind: PartKind<T, S>): Route =>
  route({
    method: 'POST',
    path: `${root}/${kind.plural}`,
    tag,
    summary: `Add a ${kind.what.toLowerCase()}`,
    access: 'member',
    body: kind.draft,
    takesDocument: true,
    answer: { status: 201, schema: kind.schema },
    previews: true,
    handle: async (context, call) => {
      const now = context.clock.now().toISOString()
      let id = ''
      const changed = await putPart(kind, context, call, function* (current) {
        // Without existing parts, so that a second one of the same port or name is new, and is refused as a duplicate.
        const parts = new Parts({ listeners: [], pools: [] }, now, monitorDefaultsOf(context, current))
        const made = yield* kind.make(parts, call.body as z.output<S>, current)
        id = made.id
        return made
      })
      return partOf(kind.of(changed), id, kind.what)
    },
  })

const replaceRoute = <T extends { readonly id: string }, S extends z.ZodObject>(kind: PartKind<T, S>): Route =>
  route({
    method: 'PUT',
    path: `${root}/${kind.plural}/:part`,
    tag,
    summary: `Replace a ${kind.what.toLowerCase()}`,
    access: 'member',
    body: kind.draft,
    takesDocument: true,
    answer: { status: 200, schema: kind.schema },
    previews: true,
    handle: async (context, call) => {
      const now = context.clock.now().toISOString()
      const changed = await putPart(kind, context, call, (current) => {
        const { id } = partOf(kind.of(current), call.params.part, kind.what)
        const body = { ...(call.body as object), id } as z.output<S>
        return kind.make(new Parts(current, now, monitorDefaultsOf(context, current)), body, current)
      })
      return partOf(kind.of(changed), call.params.part, kind.what)
    },
  })

const changeRoute = <T extends { readonly id: string }, S extends z.ZodObject>(kind: PartKind<T, S>): Route =>
  route({
    method: 'PATCH',
    path: `${root}/${kind.plural}/:part`,
    tag,
    summary: `Change a ${kind.what.toLowerCase()}; absent fields stay`,
    access: 'member',
    body: mergeOf(kind.draft),
    takesDocument: true,
    answer: { status: 200, schema: kind.schema },
    previews: true,
    handle: async (context, call) => {
      const now = context.clock.now().toISOString()
      const changed = await putPart(kind, context, call, function* (current) {
        const stored = partOf(kind.of(current), call.params.part, kind.what)
        const { list } = kind
        const keepsList = call.body[list] === undefined
        const known = { ...stored, ...kind.givesWay(stored, call.body), ...(keepsList && { [list]: [] }) }
        const wanted = { ...merged(known, call.body), id: stored.id }
        const parts = new Parts(current, now, monitorDefaultsOf(context, current))
        const made = yield* kind.make(parts, yield* parsingAs(kind.draft, wanted), current)
        // The stored list is left out of the parsing: it was validated when it was stored, and may be long.
        return keepsList ? { ...made, [list]: stored[list] } : made
      })
      return partOf(kind.of(changed), call.params.part, kind.what)
    },
  })

const removeRoute = <T extends { readonly id: string }, S extends z.ZodObject>(kind: PartKind<T, S>): Route =>
  route({
    method: 'DELETE',
    path: `${root}/${kind.plural}/:part`,
    tag,
    summary: `Remove a ${kind.what.toLowerCase()}`,
    access: 'member',
    body: null,
    answer: { status: 204, schema: null },
    previews: true,
    handle: async (context, call) => {
      await changeOwn(context, call, (current) => {
        requireVersion(call.request, current)
        const removed = partOf(kind.of(current), call.params.part, kind.what)
        kind.refuseRemoval(removed, current)
        return kind.replace(kind.of(current).filter((known) => known.id !== removed.id))
      })
    },
  })

/** Replaces the part with its id, or appends it. Error fields are paths in the part. */
export async function putPart<T extends { readonly id: string }, S extends z.ZodObject>(
  kind: PartKind<T, S>,
  context: NativeContext,
  call: Call<unknown>,
  make: (current: LoadBalancer) => T | Pieces<T>,
): Promise<LoadBalancer> {
  let at = 0
  try {
    return await changeOwn(context, call, function* (current) {
      requireVersion(call.request, current)
      const made = yield* piecesOf(make(current))
      const parts = [...kind.of(current)]
      const known = parts.findIndex((part) => part.id === made.id)
      at = known === -1 ? parts.length : known
      parts[at] = made
      return kind.replace(parts)
    })
  } catch (error) {
    throw withoutPrefix(error, `${kind.plural}[${at}].`)
  }
}

/** The same error, with the field's name in the caller's request. */
export function withoutPrefix(error: unknown, prefix: string): unknown {
  if (!(error instanceof SpoutError) || !error.field?.startsWith(prefix)) return error
  const inPart = (field: string) => (field.startsWith(prefix) ? field.slice(prefix.length) : field)
  const fields = error.fields.map(inPart)
  return new SpoutError(error.code, { ...error.params, field: inPart(error.field) }, { cause: error, fields })
}

type Who = Pick<Call<unknown>, 'principal' | 'params'>

export function partOf<T extends { readonly id: string }>(
  parts: readonly T[],
  id: string | undefined,
  what: string,
): T {
  const part = parts.find((known) => known.id === id)
  if (part === undefined) throw new SpoutError('NotFound', { what, id: id ?? '' })
  return part
}

/** Single parts of a load balancer. Each change is a change of the whole document, so all are atomic. */
export const loadBalancerPartRoutes: readonly Route[] = [...partRoutes(LISTENERS), ...partRoutes(POOLS)]
