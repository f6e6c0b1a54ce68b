import type { NodeRoute, Service } from '@spout/model/node-state'

/** The pools that the proxy uses for these listeners: their default pools, and those of routes. */
export function poolNumbersOf(services: readonly Pick<Service, 'pool' | 'routes'>[]): ReadonlySet<number> {
  const numbers = new Set<number>()
  const add = (number: number | null | undefined): void => {
    if (number != null) numbers.add(number)
  }
  for (const { pool, routes = [] } of services) {
    add(pool)
    for (const { action } of routes) poolsOfAction(action, add)
  }
  return numbers
}

function poolsOfAction(action: NodeRoute['action'], add: (number: number | null | undefined) => void): void {
  if (action.type !== 'forward') return
  for (const { pool } of action.pools) add(pool)
  for (const { pool } of action.mirrors ?? []) add(pool)
  add(action.authorizer?.pool)
}
