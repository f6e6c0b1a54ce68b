import { type HttpRoute, type Listener, type LoadBalancer, type RouteCondition, SpoutError } from '@spout/model'
import { listDifference } from '@spout/model/list-difference'
import type { AdmissionContext } from '../claims/context.ts'
import type { ServedName } from '../indexes/domain-owners.ts'

type HostCondition = Extract<RouteCondition, { readonly on: 'host' }>

/** A host that a route names, and where. */
interface NamedHost {
  readonly field: string
  /** The host as people write it. */
  readonly text: string
  readonly names: readonly ServedName[]
  /** Whether it covers these names alone. Otherwise it covers others, too, which cannot be listed. */
  readonly isWhole: boolean
}

/** Most fields that one refusal names. */
const MOST_FIELDS = 1000

const REASONS = {
  foreign: 'a domain of another project covers it',
  partly: 'a domain of another project is among the names below it',
  nobody: 'no domain of the project covers it',
} as const

/**
 * Checks hosts that a load balancer's routes did not name before against the domains of projects. Hosts that it served
 * before stay allowed: if another project gets their domain later, the owner can still change everything else. A route
 * without a host names none.
 * @throws SpoutError HostNotAllowed with all fields that are refused for the same reason
 */
export function checkServedHosts(
  { hosts: rule, index }: Pick<AdmissionContext, 'hosts' | 'index'>,
  { projectId, listeners }: Pick<LoadBalancer, 'projectId' | 'listeners'>,
  before: readonly Listener[] = [],
): void {
  if (rule === 'any' || (rule === 'unclaimed' && index.domainOwners.isEmpty)) return
  const refused: { readonly field: string; readonly text: string; readonly reason: string }[] = []
  let served: ReadonlySet<string> | null = null
  for (const { field, text, ...named } of namedAnew(listeners, before)) {
    const reason = whyRefused(named)
    if (reason === null) continue
    served ??= new Set(before.flatMap(({ routes }) => routes.flatMap((route) => hostsOf(route).map((one) => one.text))))
    if (!served.has(text)) refused.push({ field, text, reason })
  }
  const [first] = refused
  if (first === undefined) return
  const fields = refused.filter(({ reason }) => reason === first.reason).map(({ field }) => field)
  const params = { field: first.field, host: first.text, reason: first.reason }
  throw new SpoutError('HostNotAllowed', params, { fields: fields.slice(0, MOST_FIELDS) })

  function whyRefused({ names, isWhole }: Pick<NamedHost, 'names' | 'isWhole'>): string | null {
    for (const name of names) {
      const owner = index.domainOwners.ownerOf(name, projectId)
      if (owner !== 'own' && (owner !== 'nobody' || (rule === 'own' && isWhole))) return REASONS[owner]
    }
    return isWhole || rule !== 'own' ? null : 'which hosts it stands for cannot be told'
  }
}

/** The hosts of routes that are not the same as before. The cost depends on the part of the lists that differs. */
function* namedAnew(listeners: readonly Listener[], before: readonly Listener[]): Generator<NamedHost> {
  const routesBefore = new Map(before.map(({ id, routes }) => [id, routes]))
  for (const [at, { id, routes }] of listeners.entries()) {
    const old = routesBefore.get(id) ?? []
    const come = old.length === 0 ? routes : listDifference(old, routes).come
    if (come.length === 0) continue
    const fresh = new Set(come)
    for (const [place, route] of routes.entries())
      if (fresh.has(route)) yield* hostsOf(route, `listeners[${at}].routes[${place}].`)
  }
}

const hostsOf = ({ conditions }: HttpRoute, prefix = ''): readonly NamedHost[] =>
  conditions.flatMap((condition, at) => {
    if (condition.on !== 'host' || condition.not) return []
    const field = `${prefix}conditions[${at}].values`
    return condition.values.map((value, index) => ({ field: `${field}[${index}]`, ...namesOf(condition, value) }))
  })

function namesOf({ compare }: HostCondition, value: string): Omit<NamedHost, 'field'> {
  switch (compare) {
    case 'exact':
      return { text: value, names: [{ name: value, compare }], isWhole: true }
    case 'one-label':
    case 'any-labels':
      return { text: `*.${value}`, names: [{ name: value, compare }], isWhole: true }
    case 'ends-with': {
      const [name, text] = [value.replace(/^\./, ''), `*${value}`]
      const below: ServedName = { name, compare: 'any-labels' }
      if (name !== value) return { text, names: [below], isWhole: true }
      return { text, names: [{ name, compare: 'exact' }, below], isWhole: false }
    }
    default:
      return { text: `${compare} ${value}`, names: [{ name: value, compare: 'exact' }], isWhole: false }
  }
}
