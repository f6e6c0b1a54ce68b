import type { RouteCondition } from '@spout/model'
import { MOST_REGEXES, whyUnusable } from '@spout/model/regex'
import { type Problem, problem } from '../reason.ts'
import type { ConditionalRoute } from './conditional-route.ts'

interface Place {
  readonly field: string
  readonly pattern: string
  readonly anyCase: boolean
}

/** Why regular expressions of routes cannot be used. Their syntax has been checked by the schema. */
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
    const reason = whyUnusable(place.pattern, place.anyCase)
    if (reason !== null) yield problem('InvalidField', { field: place.field, reason })
  }
}

const keyOf = ({ pattern, anyCase }: Pick<Place, 'pattern' | 'anyCase'>): string => `${anyCase ? 'i' : ''}/${pattern}`

const placesOf = (
  { on, values }: Extract<RouteCondition, { readonly compare: 'regex' }>,
  field: string,
): readonly Place[] =>
  values.map((pattern, at) => ({ field: `${field}.values[${at}]`, pattern, anyCase: on === 'host' }))
