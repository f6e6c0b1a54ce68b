import { SpoutError } from '@spout/model'
import { z } from 'zod'
import { isAdmin, mayKnow } from '../../authn/access.ts'
import { queryValue } from '../../http/query.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Call, type Route, route } from '../operations/route.ts'

const MOST_WAIT_MS = 30_000

const withdrawal = z.strictObject({
  withdrawn: z.boolean().describe('Every connected node has confirmed that it removed it.'),
  overdue: z.boolean().describe('It takes longer than it should: a node has a fault.'),
  waitingFor: z
    .array(
      z.strictObject({
        nodeId: z.string(),
        nodeName: z.string(),
        connection: z.enum(['connected', 'disconnected', 'never']),
        message: z.string().nullable(),
      }),
    )
    .describe('Nodes that have not confirmed yet.'),
})

/** Whether the nodes have removed a deleted load balancer, so that its address answers nowhere. */
export const withdrawalRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/load-balancers/:id/withdrawal',
    tag: 'load-balancers',
    summary: 'Whether the nodes have removed a deleted load balancer',
    access: 'reader',
    query: { waitMs: 'How many milliseconds to wait for that; at most 30000' },
    body: null,
    answer: { status: 200, schema: withdrawal },
    handle: async (context, call) => {
      shownTo(context, call)
      await settled(context, call, waitOf(call))
      return shownTo(context, call)
    },
  }),
]

/** @throws SpoutError NotFound if it is or was another project's */
function shownTo({ view, withdrawals }: NativeContext, { principal, params }: Call<unknown>) {
  const { id = '' } = params
  const { projectId, ...progress } = withdrawals.withdrawal(id)
  const owner = view.get('loadBalancer', id)?.value.projectId ?? projectId
  if (owner !== null && !mayKnow(principal, owner)) throw new SpoutError('NotFound', { what: 'Load balancer', id })
  // Without a known owner only administrators may learn about its nodes.
  const isKnown = owner !== null || isAdmin(principal)
  return isKnown ? progress : { ...progress, waitingFor: [] }
}

function waitOf({ request }: Call<unknown>): number {
  const text = queryValue(request, 'waitMs') ?? '0'
  const waitMs = Number(text)
  if (/^\d{1,5}$/.test(text) && waitMs <= MOST_WAIT_MS) return waitMs
  throw new SpoutError('InvalidField', { field: 'waitMs', reason: `must be a whole number from 0 to ${MOST_WAIT_MS}` })
}

/** Resolves when there is nothing left to wait for, when the time is over, or when the client has gone. */
async function settled(context: NativeContext, { request, params }: Call<unknown>, waitMs: number): Promise<void> {
  const { withdrawals, clock, closing } = context
  const isOver = () => {
    const { withdrawn, overdue } = withdrawals.withdrawal(params.id ?? '')
    return withdrawn || overdue
  }
  if (waitMs === 0 || isOver()) return
  await new Promise<void>((resolve) => {
    const finish = () => {
      timer.clear()
      unsubscribe()
      closing.removeEventListener('abort', finish)
      request.raw.socket.off('close', finish)
      resolve()
    }
    const timer = clock.setTimer(finish, waitMs)
    const unsubscribe = withdrawals.onChange(() => {
      if (isOver()) finish()
    })
    closing.addEventListener('abort', finish, { once: true })
    request.raw.socket.once('close', finish)
  })
}
