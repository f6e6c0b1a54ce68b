import type { RouteCondition } from '@spout/model'
import type { LoadBalancerContent } from './content.ts'
import type { RouteContent } from './route-content.ts'

type HostCondition = Extract<RouteCondition, { readonly on: 'host' }>

/** The host that a value of a host condition means; null for a regular expression. A wildcard begins with `*.`. */
function hostOf({ compare }: HostCondition, value: string): string | null {
  if (compare === 'exact') return value
  return compare === 'one-label' || compare === 'any-labels' ? `*.${value}` : null
}

const hostsOf = (condition: RouteCondition): readonly string[] =>
  condition.on === 'host' && !condition.not ? condition.values.flatMap((value) => hostOf(condition, value) ?? []) : []

/** The hosts that a route names. */
export const hostsOfRoute = ({ conditions }: RouteContent): readonly string[] => conditions.flatMap(hostsOf)

/** The host at a field path such as `listeners[0].routes[1].conditions[0].values[2]`; null when it is no host. */
export function hostAt({ listeners }: LoadBalancerContent, field: string): string | null {
  const match = /^listeners\[(\d+)\]\.routes\[(\d+)\]\.conditions\[(\d+)\]\.values\[(\d+)\]$/.exec(field)
  const [listener = -1, route = -1, at = -1, value = -1] = (match ?? []).slice(1).map(Number)
  const condition = listeners[listener]?.routes?.[route]?.conditions[at]
  if (condition?.on !== 'host') return null
  const text = condition.values[value]
  return text === undefined ? null : hostOf(condition, text)
}

/**
 * The routes without some hosts. A route that has no other host is removed, because it would match all hosts.
 */
export function withoutHosts(
  routes: readonly RouteContent[],
  isLeftOut: (host: string) => boolean,
): readonly RouteContent[] {
  return routes.flatMap((route) => {
    if (!hostsOfRoute(route).some(isLeftOut)) return [route]
    const conditions = route.conditions.map((condition): RouteCondition => {
      if (condition.on !== 'host' || condition.not) return condition
      const stays = (value: string) => {
        const host = hostOf(condition, value)
        return host === null || !isLeftOut(host)
      }
      return { ...condition, values: (condition.values as string[]).filter(stays) } as RouteCondition
    })
    const isEmpty = conditions.some((condition) => condition.on === 'host' && condition.values.length === 0)
    return isEmpty ? [] : [{ ...route, conditions }]
  })
}
