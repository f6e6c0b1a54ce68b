import { type RouteContent, type RouteContentInput, routeOf } from '@spout/connector'
import { hostConditions } from './matches.ts'
import { CLOSED_POOL } from './tls-rules.ts'

/**
 * The last route of a listener: answers 404, so that requests for its host do not reach a listener with a wider host.
 */
export const notFound = (host: string): RouteContent => lastRoute(`404/${host}`, host, { type: 'respond', code: 404 })

/** The same for connections whose protocol is unknown, where no answer can be given: closes them. */
export const closed = (host: string): RouteContent =>
  lastRoute(`closed/${host}`, host, { type: 'forward', pools: [{ pool: CLOSED_POOL, weight: 1 }] })

function lastRoute(name: string, host: string, action: RouteContentInput['action']): RouteContent {
  const made = routeOf({ name, conditions: hostConditions([host]), action }, 'listeners')
  // The host names of listeners were checked before, so this is a bug.
  if ('refusal' in made) throw new Error(`${host}: ${made.refusal.message}`)
  return made.value
}
