import type { Listener } from '@spout/model'
import { compileRoutes } from '../http-routes/compile-routes.ts'
import { regexProblems } from '../http-routes/regex-problems.ts'
import { type Problem, problem } from '../reason.ts'

/** Why a listener cannot have its routes. Their pools are checked with its default pool. */
export function* routeProblems({ protocol, routes }: Listener, field: string): Generator<Problem> {
  if (routes.length === 0) return
  if (protocol !== 'http' && protocol !== 'https')
    yield problem('InvalidField', { field, reason: `belongs to listeners of protocol http and https, not ${protocol}` })
  yield* regexProblems(routes, field)
  if (compileRoutes(routes) === null)
    yield problem('Unsupported', {
      field,
      reason:
        'make too large a table: each of their hosts has a copy of the routes without a host. Name hosts in more routes, or use fewer paths',
    })
}
