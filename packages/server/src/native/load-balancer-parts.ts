import type { LoadBalancerChange } from '@spout/admission'
import { type Listener, type LoadBalancer, listener, type Pool, pool, SpoutError } from '@spout/model'
import { z } from 'zod'
import { find } from './collection.ts'
import type { NativeContext } from './context.ts'
import { listenerDraft, memberDraft, Parts, poolDraft } from './load-balancer-draft.ts'
import { changeOwn, LOAD_BALANCERS, requireVersion } from './load-balancers.ts'
import { type Call, type Route, route } from './route.ts'

const tag = 'load-balancers'
const root = '/load-balancers/:id'

/** What listeners and pools have in common as parts of a load balancer. */
interface PartKind<T extends { readonly id: string }, S extends z.ZodType> {
  readonly plural: 'listeners' | 'pools'
  readonly what: 'Listener' | 'Pool'
  readonly schema: z.ZodType
  readonly draft: S
  readonly of: (loadBalancer: LoadBalancer) => readonly T[]
  readonly make: (parts: Parts, draft: z.output<S>, current: LoadBalancer) => T
  readonly replace: (all: T[]) => LoadBalancerChange
  /** @throws SpoutError when something still needs it */
  readonly refuseRemoval: (part: T, current: LoadBalancer) => void
}

const LISTENERS: PartKind<Listener, typeof listenerDraft> = {
  plural: 'listeners',
  what: 'Listener',
  schema: listener,
  draft: listenerDraft,
  of: (loadBalancer) => loadBalancer.listeners,
  make: (parts, draft, current) => parts.listener(draft, current.pools, ''),
  replace: (listeners) => ({ listeners }),
  refuseRemoval: () => {},
}

const POOLS: PartKind<Pool, typeof poolDraft> = {
  plural: 'pools',
  what: 'Pool',
  schema: pool,
  draft: poolDraft,
  of: (loadBalancer) => loadBalancer.pools,
  make: (parts, draft) => parts.pool(draft, ''),
  replace: (pools) => ({ pools }),
  refuseRemoval: ({ id }, current) => {
    const user = current.listeners.find((known) => known.defaultPoolId === id)
    if (user !== undefined) throw new SpoutError('InUse', { what: 'Pool', id, user: `listener ${user.id}` })
  },
}

function partRoutes<T extends { readonly id: string }, S extends z.ZodType>(kind: PartKind<T, S>): readonly Route[] {
  const { plural, what, schema, draft } = kind
  const singular = what.toLowerCase()
  const own = (context: NativeContext, { principal, params }: Who) =>
    kind.of(find(LOAD_BALANCERS, context, principal, params.id ?? ''))
  return [
    route({
      method: 'GET',
      path: `${root}/${plural}`,
      tag,
      summary: `List its ${plural}`,
      access: 'reader',
      body: null,
      answer: { status: 200, schema, list: true },
      handle: (context, call) => ({ items: own(context, call) }),
    }),
    route({
      method: 'GET',
      path: `${root}/${plural}/:part`,
      tag,
      summary: `Show a ${singular}`,
      access: 'reader',
      body: null,
      answer: { status: 200, schema },
      handle: (context, call) => partOf(own(context, call), call.params.part, what),
    }),
    route({
      method: 'POST',
      path: `${root}/${plural}`,
      tag,
      summary: `Add a ${singular}`,
      access: 'member',
      body: draft,
      answer: { status: 201, schema },
      handle: async (context, call) => {
        // Nothing is known to it, so that a second one of the same port or name is new, and judged as such.
        const parts = new Parts({ listeners: [], pools: [] }, context.clock.now().toISOString())
        let id = ''
        const changed = await putPart(kind, context, call, (current) => {
          const made = kind.make(parts, call.body as z.output<S>, current)
          id = made.id
          return made
        })
        return partOf(kind.of(changed), id, what)
      },
    }),
    route({
      method: 'PUT',
      path: `${root}/${plural}/:part`,
      tag,
      summary: `Replace a ${singular}`,
      access: 'member',
      body: draft,
      answer: { status: 200, schema },
      handle: async (context, call) => {
        const now = context.clock.now().toISOString()
        const changed = await putPart(kind, context, call, (current) => {
          const { id } = partOf(kind.of(current), call.params.part, what)
          const body = { ...(call.body as object), id } as z.output<S>
          return kind.make(new Parts(current, now), body, current)
        })
        return partOf(kind.of(changed), call.params.part, what)
      },
    }),
    route({
      method: 'DELETE',
      path: `${root}/${plural}/:part`,
      tag,
      summary: `Remove a ${singular}`,
      access: 'member',
      body: null,
      answer: { status: 204, schema: null },
      handle: async (context, call) => {
        await changeOwn(context, call, (current) => {
          requireVersion(call.request, current)
          const removed = partOf(kind.of(current), call.params.part, what)
          kind.refuseRemoval(removed, current)
          return kind.replace(kind.of(current).filter((known) => known.id !== removed.id))
        })
      },
    }),
  ]
}

/** Puts a part in place of the one with its id, or behind the others. Fields in errors are the part's own. */
async function putPart<T extends { readonly id: string }, S extends z.ZodType>(
  kind: PartKind<T, S>,
  context: NativeContext,
  call: Call<unknown>,
  make: (current: LoadBalancer) => T,
): Promise<LoadBalancer> {
  let at = 0
  try {
    return await changeOwn(context, call, (current) => {
      requireVersion(call.request, current)
      const made = make(current)
      const parts = [...kind.of(current)]
      const known = parts.findIndex((part) => part.id === made.id)
      at = known === -1 ? parts.length : known
      parts[at] = made
      return kind.replace(parts)
    })
  } catch (error) {
    const prefix = `${kind.plural}[${at}].`
    if (!(error instanceof SpoutError) || !error.field?.startsWith(prefix)) throw error
    throw new SpoutError(error.code, { ...error.params, field: error.field.slice(prefix.length) }, { cause: error })
  }
}

type Who = Pick<Call<unknown>, 'principal' | 'params'>

function partOf<T extends { readonly id: string }>(parts: readonly T[], id: string | undefined, what: string): T {
  const part = parts.find((known) => known.id === id)
  if (part === undefined) throw new SpoutError('NotFound', { what, id: id ?? '' })
  return part
}

/** Single parts of a load balancer. Each change is a change of the whole document, so all are as atomic as that. */
export const loadBalancerPartRoutes: readonly Route[] = [
  ...partRoutes(LISTENERS),
  ...partRoutes(POOLS),
  route({
    method: 'PUT',
    path: `${root}/pools/:part/members`,
    tag,
    summary: 'Replace all members of a pool',
    access: 'member',
    body: z.strictObject({ members: z.array(memberDraft).max(10_000) }),
    answer: { status: 200, schema: pool },
    handle: async (context, call) => {
      const now = context.clock.now().toISOString()
      const changed = await putPart(POOLS, context, call, (current) => {
        const known = partOf(current.pools, call.params.part, 'Pool')
        const members = new Parts(current, now).members(call.body.members, known.members, 'members')
        return { ...known, members, updatedAt: now }
      })
      return partOf(changed.pools, call.params.part, 'Pool')
    },
  }),
]
