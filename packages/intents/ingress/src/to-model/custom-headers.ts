import { type OrRefusal, type Refusal, shown } from '@spout/connector'
import { type RouteFilter, routeFilter } from '@spout/model'
import { CUSTOM_HEADERS } from '../ingress-nginx/custom-headers.ts'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'

/** The content of a ConfigMap, or why there is none; null until it has been read. */
export type ConfigMapSight = OrRefusal<Readonly<Record<string, string>>> | null

export interface CustomHeaders {
  /** Null: no header is set. */
  readonly filter: RouteFilter | null
  readonly problems: readonly Refusal[]
}

const MOST = 16
/** Limit for all headers together. It leaves room for the other filters of a route. */
const MOST_CHARACTERS = 2_000

/** The headers of a ConfigMap, sorted by name. A header that may not be set is reported; the others are set. */
export function headersOf(sight: ConfigMapSight): CustomHeaders {
  if (sight === null) return { filter: null, problems: [] }
  if ('refusal' in sight) return { filter: null, problems: [problem(sight.refusal.message)] }
  const set: { name: string; value: string }[] = []
  const problems: Refusal[] = []
  const refuse = (name: string, why: string) => void problems.push(problem(`header ${shown(name)}: ${why}.`))
  let characters = 0
  for (const [name, value] of Object.entries(sight.value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const one = { name: name.toLowerCase(), value: value.trim() }
    const made = routeFilter.safeParse({ type: 'response-headers', set: [one] })
    const longer = characters + one.name.length + one.value.length
    if (!made.success) refuse(name, made.error.issues[0]?.message ?? 'is not understood')
    else if (set.some((other) => other.name === one.name)) refuse(name, 'is there twice')
    else if (set.length >= MOST || longer > MOST_CHARACTERS)
      refuse(name, `at most ${MOST} are set, of ${MOST_CHARACTERS} characters together`)
    else {
      set.push(one)
      characters = longer
    }
  }
  const filter = set.length === 0 ? null : routeFilter.parse({ type: 'response-headers', set })
  return { filter, problems }
}

const problem = (message: string): Refusal => ({
  reason: 'InvalidAnnotation',
  field: `metadata.annotations[${NGINX_PREFIX}${CUSTOM_HEADERS}]`,
  message: `not taken: ${message}`,
})
