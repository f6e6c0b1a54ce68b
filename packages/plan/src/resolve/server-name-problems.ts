import { goesByServerName, type HttpRoute, type Listener } from '@spout/model'
import { isHostKey } from '@spout/model/route-keys'
import { type Problem, problem } from '../reason.ts'

/** Conditions and actions of routes that a listener does not support if it sees only the client's server name (SNI). */
export function* serverNameProblems(
  protocol: Listener['protocol'],
  routes: readonly HttpRoute[],
  field: string,
): Generator<Problem> {
  const refusal = (at: string, reason: string) => refusalFor(protocol, at, reason)
  for (const [at, { conditions, action }] of routes.entries()) {
    for (const [place, condition] of conditions.entries()) {
      if (isHostKey(condition)) continue
      const seen = `${field}[${at}].conditions[${place}]`
      yield condition.on === 'host'
        ? refusal(
            `${seen}.compare`,
            `${condition.compare}: names are compared as exact, one-label and any-labels alone`,
          )
        : refusal(`${seen}.on`, `${condition.on}: only the name that the client asks for is seen before TLS is ended`)
    }
    const done = `${field}[${at}].action`
    if (action.type !== 'forward') {
      yield refusal(`${done}.type`, `${action.type}: answers are within TLS, so a route can only forward`)
      continue
    }
    const { type: _, pools, ...options } = action
    const within = 'requests are within TLS, so they are neither read, changed, counted nor copied'
    for (const [option, value] of Object.entries(options))
      if (value !== undefined) yield refusal(`${done}.${option}`, within)
    for (const [share, { filters }] of pools.entries())
      if (filters !== undefined) yield refusal(`${done}.pools[${share}].filters`, within)
  }
}

/** Headers cannot be added by a listener that sees only the server name. */
export function* serverNameHeaderProblems({ protocol, insertHeaders }: Listener, at: string): Generator<Problem> {
  if (goesByServerName(protocol) && insertHeaders.length > 0)
    yield refusalFor(protocol, `${at}.insertHeaders`, 'requests are within TLS, so none gets a header')
}

const refusalFor = (protocol: Listener['protocol'], field: string, reason: string): Problem =>
  problem('InvalidField', {
    field,
    reason: `${reason} (a listener of protocol ${protocol} ${protocol === 'tls' ? 'reads no requests' : 'does not end TLS'})`,
  })
