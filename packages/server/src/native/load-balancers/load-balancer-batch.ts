import { loadBalancer } from '@spout/model'
import { z } from 'zod'
import { problemIn, problemSchema } from '../../http/problem.ts'
import { type Route, route } from '../operations/route.ts'
import { shownLoadBalancer } from '../operations/shown.ts'
import { createOwn, creation } from './load-balancers.ts'

/** How many are committed together. */
const MOST_TOGETHER = 256

/** In the order of the request: the created load balancer, or the error. */
const outcome = z.union([z.strictObject({ loadBalancer }), z.strictObject({ error: problemSchema })])

/**
 * Creates many load balancers in one call, which share a disk flush. Each succeeds or fails on its own. A body that
 * does not parse is refused as a whole.
 */
export const loadBalancerBatchRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/load-balancers/batch',
    tag: 'load-balancers',
    summary: 'Create several load balancers, each with everything in it',
    access: 'member',
    body: z.strictObject({ loadBalancers: z.array(creation).min(1).max(MOST_TOGETHER) }),
    takesDocument: true,
    answer: { status: 200, schema: z.strictObject({ results: z.array(outcome) }) },
    handle: async (context, { principal, body, request, turn }) => {
      const results = await Promise.all(
        body.loadBalancers.map(async (one) => {
          try {
            return { loadBalancer: shownLoadBalancer(context, await createOwn(context, principal, one, turn)) }
          } catch (error) {
            return { error: problemIn(request, error) }
          }
        }),
      )
      return { results }
    },
  }),
]
