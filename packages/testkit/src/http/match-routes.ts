import type { RouteCondition } from '@spout/model'

export interface RoutedRequest {
  readonly method: string
  /** The `Host` header; null without one. */
  readonly host: string | null
  /** Without the query; null for `OPTIONS *`. */
  readonly path: string | null
}

/**
 * The route that takes a request, by trying one after the other: slow, and close to the words of the documentation. The
 * reference for the compiler and for proxies.
 * @returns its index; null if none does
 */
export function matchRoutes(
  routes: readonly { readonly conditions: readonly RouteCondition[] }[],
  request: RoutedRequest,
): number | null {
  const at = routes.findIndex(({ conditions }) =>
    conditions.every(
      (condition) => condition.values.some((value) => fits(condition, value, request)) !== condition.not,
    ),
  )
  return at < 0 ? null : at
}

function fits(condition: RouteCondition, value: string, request: RoutedRequest): boolean {
  if (condition.on === 'method') return request.method === value
  if (condition.on === 'path') return request.path !== null && pathFits(condition.compare, value, request.path)
  return hostFits(condition.compare, value, nameOf(request.host ?? ''))
}

const nameOf = (host: string): string => (host.split(/[:/]/)[0] ?? '').toLowerCase().replace(/\.+$/, '')

function hostFits(compare: (RouteCondition & { on: 'host' })['compare'], value: string, name: string): boolean {
  if (compare === 'exact') return name === value
  if (!name.endsWith(`.${value}`)) return false
  const labels = name.slice(0, -value.length - 1).split('.')
  return compare === 'any-labels' || labels.length === 1
}

function pathFits(compare: (RouteCondition & { on: 'path' })['compare'], value: string, path: string): boolean {
  if (compare === 'exact') return path === value
  if (compare === 'prefix') return path.startsWith(value)
  const element = value.replace(/\/+$/, '')
  return path === element || path.startsWith(`${element}/`)
}
