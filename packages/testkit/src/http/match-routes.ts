import type { RouteCondition } from '@spout/model'
import { cidrsOverlap, parseCidr } from '@spout/net'

export interface RoutedRequest {
  readonly method: string
  /** The `Host` header; null without one. */
  readonly host: string | null
  /** Without the query; null for `OPTIONS *`. */
  readonly path: string | null
  /** Behind the question mark. */
  readonly query?: string
  /** Names and lines, besides `Host`. */
  readonly headers?: readonly (readonly [string, string])[]
  /** The client's address. */
  readonly source?: string
  /** The client's certificate: texts by part of its subject. Absent: it has shown none. */
  readonly client?: Readonly<Record<string, string>>
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

type On<Subject extends RouteCondition['on']> = RouteCondition & { readonly on: Subject }

function fits(condition: RouteCondition, value: string, request: RoutedRequest): boolean {
  switch (condition.on) {
    case 'method':
      return request.method === value
    case 'path':
      return request.path !== null && pathFits(condition.compare, value, request.path)
    case 'host':
      return hostFits(condition.compare, value, nameOf(request.host ?? ''))
    case 'source':
      return cidrsOverlap(parseCidr(value), hostCidr(request.source ?? '127.0.0.1'))
    case 'client-certificate':
      return (value === 'present') === (request.client !== undefined)
    case 'client-name': {
      const text = request.client?.[condition.name.toUpperCase()]
      return text !== undefined && textFits(condition.compare, value, text)
    }
    default:
      return valuesOf(condition, request).some((text) => textFits(condition.compare, value, text))
  }
}

/** What a request has under the name of a condition. */
function valuesOf({ on, name }: On<'header' | 'cookie' | 'query'>, request: RoutedRequest): readonly string[] {
  const headers = request.headers ?? []
  const lines = (wanted: string): readonly string[] =>
    headers.filter(([header]) => header.toLowerCase() === wanted).map(([, line]) => line)
  if (on === 'header') return lines(name).flatMap((line) => [line, ...elementsOf(line, ',')])
  const pairs =
    on === 'query' ? (request.query ?? '').split('&') : lines('cookie').flatMap((line) => elementsOf(line, ';'))
  return pairs
    .map((pair) => pair.split(/=(.*)/s))
    .filter(([key]) => key === name)
    .map(([, text = '']) => text)
}

const elementsOf = (line: string, separator: string): readonly string[] =>
  line.split(separator).map((element) => element.replace(/^[ \t]+|[ \t]+$/g, ''))

const nameOf = (host: string): string => (host.split(/[:/]/)[0] ?? '').toLowerCase().replace(/\.+$/, '')

function hostFits(compare: On<'host'>['compare'], value: string, name: string): boolean {
  if (compare !== 'one-label' && compare !== 'any-labels') return textFits(compare, value, name, 'i')
  if (!name.endsWith(`.${value}`)) return false
  const labels = name.slice(0, -value.length - 1).split('.')
  return compare === 'any-labels' || labels.length === 1
}

function pathFits(compare: On<'path'>['compare'], value: string, path: string): boolean {
  if (compare !== 'elements') return textFits(compare, value, path)
  const element = value.replace(/\/+$/, '')
  return path === element || path.startsWith(`${element}/`)
}

function textFits(
  compare: 'exact' | 'prefix' | 'ends-with' | 'contains' | 'regex',
  value: string,
  text: string,
  flags = '',
): boolean {
  switch (compare) {
    case 'exact':
      return text === value
    case 'prefix':
      return text.startsWith(value)
    case 'ends-with':
      return text.endsWith(value)
    case 'contains':
      return text.includes(value)
    case 'regex':
      return new RegExp(value, flags).test(text)
  }
}

const hostCidr = (address: string) => parseCidr(`${address}/${address.includes(':') ? 128 : 32}`)
