import type { LoadBalancer, Preview } from '@spout/model'
import { SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { notesOf } from '../../audit/audit-notes.ts'
import { queryValue } from '../../http/query.ts'
import type { NativeContext } from './context.ts'
import type { Call, Route } from './route.ts'

/**
 * Whether the caller asks what a write would do.
 * @throws SpoutError InvalidField also for a write that cannot say so: it must not be made instead
 */
export function isDryRun(request: FastifyRequest, { method, previews }: Pick<Route, 'method' | 'previews'>): boolean {
  if (method === 'GET') return false
  const asked = queryValue(request, 'dryRun')
  if (asked === null || asked === 'false') return false
  if (asked !== 'true') throw new SpoutError('InvalidField', { field: 'dryRun', reason: 'must be true or false' })
  if (!previews) throw new SpoutError('InvalidField', { field: 'dryRun', reason: 'this operation has no dry run' })
  return true
}

/** What the operation would do. Nothing is stored. @throws what the operation throws */
export async function previewOf(context: NativeContext, known: Route, call: Call<unknown>): Promise<object> {
  notesOf(call.request).isDryRun = true
  return typeof known.previews === 'object'
    ? known.previews.handle(context, call)
    : previewOfLoadBalancer(context, known, call)
}

/** Runs the operation with writes that store nothing. */
async function previewOfLoadBalancer(context: NativeContext, known: Route, call: Call<unknown>): Promise<Preview> {
  const { before, after, addresses } = await context.admission.dryRun(call.params.id ?? null, (loadBalancers) =>
    known.handle({ ...context, loadBalancers }, call),
  )
  // They are of a version that does not exist.
  call.reply.removeHeader('etag').removeHeader('location')
  return {
    dryRun: true,
    loadBalancer: after,
    addresses: [...addresses],
    dnsNames: { added: namesOf(after, before), removed: namesOf(before, after) },
    plan: context.plans.forecast(before, after),
  }
}

/** The names that the first has and the second has not. */
const namesOf = (one: LoadBalancer | null, other: LoadBalancer | null): string[] =>
  (one?.dnsNames ?? []).filter((name) => !other?.dnsNames?.includes(name))
