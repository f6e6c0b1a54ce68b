import type { RouteCondition } from '@spout/model'
import { compileRegex, parseRegex, RegexError } from '@spout/model/regex'
import { type Problem, problem } from '../reason.ts'
import type { ConditionalRoute } from './conditional-route.ts'

/** Most different expressions of a listener. Each takes some 10 KB of a proxy, and up to 10 ms here when it is new. */
export const MOST_REGEXES = 50

interface Place {
  readonly field: string
  readonly pattern: string
  readonly anyCase: boolean
}

/** Why the regular expressions of routes cannot be used. Their syntax was checked before. */
export function* regexProblems(routes: readonly ConditionalRoute[], field: string): Generator<Problem> {
  const places = new Map<string, Place>()
  for (const [at, { conditions }] of routes.entries())
    for (const [number, condition] of conditions.entries())
      if ('compare' in condition && condition.compare === 'regex')
        for (const place of placesOf(condition, `${field}[${at}].conditions[${number}]`))
          places.set(keyOf(place), places.get(keyOf(place)) ?? place)
  if (places.size > MOST_REGEXES) {
    const reason = `have ${places.size} different regular expressions; a listener has at most ${MOST_REGEXES}`
    yield problem('InvalidField', { field, reason })
    return
  }
  for (const place of places.values()) {
    const reason = refusalOf(place)
    if (reason !== null) yield problem('InvalidField', { field: place.field, reason })
  }
}

const keyOf = ({ pattern, anyCase }: Pick<Place, 'pattern' | 'anyCase'>): string => `${anyCase ? 'i' : ''}/${pattern}`

const placesOf = (
  { on, values }: Extract<RouteCondition, { readonly compare: 'regex' }>,
  field: string,
): readonly Place[] =>
  values.map((pattern, at) => ({ field: `${field}.values[${at}]`, pattern, anyCase: on === 'host' }))

/** A load balancer is checked at each of its changes, so what was found is kept for the expressions used last. */
const MOST_KEPT = 2_000
const found = new Map<string, string | null>()

/** Null if it can be used. */
function refusalOf(place: Place): string | null {
  const key = keyOf(place)
  const known = found.get(key)
  const refusal = known === undefined ? compiled(place) : known
  found.delete(key)
  found.set(key, refusal)
  const [oldest] = found.keys()
  if (found.size > MOST_KEPT && oldest !== undefined) found.delete(oldest)
  return refusal
}

function compiled({ pattern, anyCase }: Place): string | null {
  try {
    compileRegex(parseRegex(pattern, anyCase))
    return null
  } catch (error) {
    if (error instanceof RegexError) return error.message
    throw error
  }
}
