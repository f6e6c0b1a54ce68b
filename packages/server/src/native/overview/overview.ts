import { loadBalancerRow, operatorProblem } from '@spout/model'
import { LongList } from '@spout/runtime'
import { z } from 'zod'
import { listScope } from '../../authn/access.ts'
import { sendAsWritten } from '../../http/long-answer.ts'
import { queryValue } from '../../http/query.ts'
import { shareOf } from '../../turns/share-of.ts'
import { type Route, route } from '../operations/route.ts'
import { streamEvents } from './event-stream.ts'
import { problemsOf } from './problems.ts'

const tag = 'overview'

/** What a page with very many load balancers needs: one compact row of each, and one stream of what changes. */
export const overviewRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/overview/load-balancers',
    tag,
    summary: 'List load balancers as compact rows, oldest first',
    access: 'reader',
    query: { project: 'Only load balancers of this project' },
    body: null,
    answer: { status: 200, schema: loadBalancerRow, list: true },
    handle: async ({ store, view, rows, turns }, { principal, request, reply }) => {
      const project = queryValue(request, 'project')
      // Read before the list, so that a reader of `/events` misses nothing.
      const revision = await store.revision()
      await view.caughtUp(revision)
      const visible = view.list('loadBalancer', listScope(principal))
      const wanted = project === null ? visible : visible.filter(({ projectId }) => projectId === project)
      const items = LongList.of(wanted, (loadBalancer) => rows.of(loadBalancer))
      return sendAsWritten(reply, () => turns.next(shareOf(principal)), { items, revision })
    },
  }),
  route({
    method: 'GET',
    path: '/problems',
    tag,
    summary: 'List what an operator should look at now, worst first, with the section of the runbook',
    access: 'admin',
    body: null,
    answer: { status: 200, schema: z.strictObject({ items: z.array(operatorProblem) }) },
    handle: (context, { principal, reply }) => {
      const items = LongList.of(problemsOf(context), (problem) => problem)
      return sendAsWritten(reply, () => context.turns.next(shareOf(principal)), { items })
    },
  }),
  route({
    method: 'GET',
    path: '/events',
    tag,
    summary: 'Stream what changes, as server-sent events',
    access: 'reader',
    query: {
      topics:
        'Separated by commas: load-balancers (the default), load-balancer:ID, objects, and for administrators nodes',
    },
    body: null,
    answer: {
      status: 200,
      schema: z
        .string()
        .describe('Events hello, row, gone, load-balancer, object, node, end; docs/native-api.md shows their data'),
      contentType: 'text/event-stream',
    },
    handle: streamEvents,
  }),
]
