import { type RouteContent, type RouteContentInput, routeOf } from '@spout/connector'
import { hostConditions } from './matches.ts'
import { CLOSED_POOL } from './tls-rules.ts'

/** Behind the routes of a listener for these names, so that those of a listener with a wider name do not count. */
export const notFound = (host: string): RouteContent => lastRoute(`404/${host}`, host, { type: 'respond', code: 404 })

/** The same where no answer can be given, within TLS. */
export const closed = (host: string): RouteContent =>
  lastRoute(`closed/${host}`, host, { type: 'forward', pools: [{ pool: CLOSED_POOL, weight: 1 }] })

function lastRoute(name: string, host: string, action: RouteContentInput['action']): RouteContent {
  const made = routeOf({ name, conditions: hostConditions([host]), action }, 'listeners')
  // Listeners with other names are refused before.
  if ('refusal' in made) throw new Error(`${host}: ${made.refusal.message}`)
  return made.value
}
