import { figureSpan, figures, memberTransition, parseAs } from '@spout/model'
import { z } from 'zod'
import { queryValue } from '../../http/query.ts'
import { find } from '../operations/collection.ts'
import { type Route, route } from '../operations/route.ts'
import { LOAD_BALANCERS } from './load-balancers.ts'

const tag = 'load-balancers'
const asked = z.object({ span: figureSpan.default('hour') })

/** What was counted and checked in the past, as far as the control plane that leads remembers it. */
export const figureRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/load-balancers/:id/figures',
    tag,
    summary:
      'Show the history of its connections, requests, answers, latencies and bytes since the control plane leads',
    access: 'reader',
    query: { span: 'hour (the default): the last hour by minutes; day: the last day by ten minutes' },
    body: null,
    answer: { status: 200, schema: figures },
    handle: (context, { principal, params, request }) => {
      const { id } = find(LOAD_BALANCERS, context, principal, params.id ?? '')
      return context.figures.figures(id, parseAs(asked, { span: queryValue(request, 'span') ?? undefined }).span)
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
