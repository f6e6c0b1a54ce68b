import { figures, memberTransition } from '@spout/model'
import { z } from 'zod'
import { askedSpan, SPAN } from '../operations/asked-span.ts'
import { find } from '../operations/collection.ts'
import { type Route, route } from '../operations/route.ts'
import { LOAD_BALANCERS } from './load-balancers.ts'

const tag = 'load-balancers'

/** What was counted and checked in the past, as far as the control plane that leads remembers it. */
export const figureRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/load-balancers/:id/figures',
    tag,
    summary:
      'Show the history of its connections, requests, answers, latencies and bytes since the control plane leads',
    access: 'reader',
    query: { span: SPAN },
    body: null,
    answer: { status: 200, schema: figures },
    handle: (context, { principal, params, request }) => {
      const { id } = find(LOAD_BALANCERS, context, principal, params.id ?? '')
      return context.figures.figures(id, askedSpan(request))
    },
  }),
  route({
    method: 'GET',
    path: '/load-balancers/:id/member-history',
    tag,
    summary: "List the last changes of its members' checks since the control plane leads, newest last",
    access: 'reader',
    body: null,
    answer: { status: 200, schema: z.strictObject({ items: z.array(memberTransition) }) },
    handle: (context, { principal, params }) => ({
      items: context.figures.memberHistory(find(LOAD_BALANCERS, context, principal, params.id ?? '').id),
    }),
  }),
]
