import { featuresOfRoutes, goesByServerName, type Listener } from '@spout/model'
import { regexProblems } from '../http-routes/regex-problems.ts'
import { RouteTables } from '../http-routes/route-tables.ts'
import { type Problem, problem } from '../reason.ts'
import { serverNameProblems } from './server-name-problems.ts'

/**
 * Why a listener cannot have its routes. The pools that they name are checked elsewhere (`poolReferenceProblems`).
 * @param tables a cache of the compiled routes of listeners
 */
export function* routeProblems(listener: Listener, field: string, tables = new RouteTables()): Generator<Problem> {
  const { protocol, routes } = listener
  if (routes.length === 0) return
  if (goesByServerName(protocol)) yield* serverNameProblems(protocol, routes, field)
  else if (protocol !== 'http' && protocol !== 'https')
    yield problem('InvalidField', {
      field,
      reason: `belongs to listeners of protocol http, https, tls and tls-passthrough, not ${protocol}`,
    })
  // Regular expressions are tested conditions. Whether there are any is known without a walk over all routes.
  if (featuresOfRoutes(routes).includes('l7.routes.tests')) yield* regexProblems(routes, field)
  if (tables.of(listener) === null)
    yield problem('Unsupported', {
      field,
      reason:
        'make too large a table: each of their hosts has a copy of the routes without a host. Name hosts in more routes, or use fewer paths',
    })
}
