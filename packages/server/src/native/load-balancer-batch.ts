import { loadBalancer } from '@spout/model'
import { z } from 'zod'
import { createOwn, creation } from './load-balancers.ts'
import { problemIn, problemSchema } from './problem.ts'
import { type Route, route } from './route.ts'
import { shownLoadBalancer } from './shown.ts'

/** What a store commits together. */
const MOST_TOGETHER = 256

/** In the order of what was asked for: the load balancer that came to be, or why it did not. */
const outcome = z.union([z.strictObject({ loadBalancer }), z.strictObject({ error: problemSchema })])

/** Many load balancers in one call, which share a disk flush. Each has a fate of its own; a body that cannot be read is refused whole. */
export const loadBalancerBatchRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/load-balancers/batch',
    tag: 'load-balancers',
    summary: 'Create several load balancers, each with everything in it',
    access: 'member',
    body: z.strictObject({ loadBalancers: z.array(creation).min(1).max(MOST_TOGETHER) }),
    answer: { status: 200, schema: z.strictObject({ results: z.array(outcome) }) },
    handle: async (context, { principal, body, request }) => {
      const results = await Promise.all(
        body.loadBalancers.map(async (one) => {
          try {
            return { loadBalancer: shownLoadBalancer(context, await createOwn(context, principal, one)) }
          } catch (error) {
            return { error: problemIn(request, error) }
          }
        }),
      )
      return { results }
    },
  }),
]
