import { type HttpRoute, ListTally, type RouteFilter } from '@spout/model'
import { type Problem, problem } from '../reason.ts'

/** Counts routes with such filters. So a change of a long list costs a look at the changed routes. */
const wrong = new ListTally<HttpRoute>((route) => (problemsOf(route, '').next().done === true ? [] : ['']))

/** Filters that would have no effect in their route. */
export function* filterProblems(routes: readonly HttpRoute[], field: string): Generator<Problem> {
  if (wrong.of(routes).size === 0) return
  for (const [at, route] of routes.entries()) yield* problemsOf(route, `${field}[${at}]`)
}

function* problemsOf({ conditions, action }: HttpRoute, field: string): Generator<Problem> {
  const filters = action.type === 'forward' ? (action.filters ?? []) : []
  for (const [place, filter] of filters.entries())
    if (filter.type === 'cors') yield* corsProblems(filter, conditions, `${field}.action.filters[${place}]`)
}

/** A preflight request is one of method OPTIONS (the Fetch standard, CORS-preflight fetch). */
function* corsProblems(
  { credentials, exposeHeaders }: RouteFilter & { readonly type: 'cors' },
  conditions: HttpRoute['conditions'],
  field: string,
): Generator<Problem> {
  const takesPreflights = conditions.every(
    (condition) => condition.on !== 'method' || condition.values.includes('OPTIONS') !== condition.not,
  )
  if (!takesPreflights)
    yield problem('InvalidField', {
      field,
      reason: 'answers preflight requests, and the methods of this route exclude theirs, which is OPTIONS',
    })
  const at = exposeHeaders.indexOf('*')
  if (credentials && at >= 0)
    yield problem('InvalidField', {
      field: `${field}.exposeHeaders[${at}]`,
      reason: '* exposes no header to requests with credentials (the Fetch standard): name the headers',
    })
}
