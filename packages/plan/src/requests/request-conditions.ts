import type { RouteCondition } from '@spout/model'
import { compileRegex, matchesRegex, parseRegex } from '@spout/model/regex'
import { cidrsOverlap, parseCidr } from '@spout/net'

/** A request as conditions of routes see it. What a listener does not read, such as the path of a TLS stream, is null. */
export interface AskedRequest {
  /** Null for connections, of which only the server name is known. */
  readonly method: string | null
  /** The `Host` header, or the server name (SNI); null without one. */
  readonly host: string | null
  /** Without the query; null for `OPTIONS *` and for connections. */
  readonly path: string | null
  /** Behind the question mark, not decoded. */
  readonly query: string
  /** Names and lines, besides `Host`. */
  readonly headers: readonly (readonly [name: string, line: string])[]
  /** The client's address; null if it is not known. No network contains it then. */
  readonly source: string | null
  /** The client's certificate: texts by part of its subject, in capitals. Null: it has shown none. */
  readonly client: Readonly<Record<string, string>> | null
}

type On<Subject extends RouteCondition['on']> = RouteCondition & { readonly on: Subject }

/** Whether the condition holds for the request, as on a node. Pure. */
export const conditionHolds = (condition: RouteCondition, request: AskedRequest): boolean => {
  const parts = partsOf(condition, request)
  return condition.values.some((value) => parts.some((part) => fits(condition, value, part))) !== condition.not
}

/** What the request has where the condition looks; empty if it has nothing there. */
export function partsOf(condition: RouteCondition, request: AskedRequest): readonly string[] {
  switch (condition.on) {
    case 'host':
      return [hostNameOf(request.host ?? '')]
    case 'client-certificate':
      return [request.client === null ? 'absent' : 'present']
    case 'client-name':
      return given(request.client?.[condition.name.toUpperCase()])
    case 'header':
    case 'cookie':
    case 'query':
      return namedParts(condition, request)
    default:
      return given(request[condition.on])
  }
}

const given = (part: string | null | undefined): readonly string[] => (part == null ? [] : [part])

/** The name in a `Host` header: without port and trailing dot, in lower case. */
export const hostNameOf = (host: string): string => (host.split(/[:/]/)[0] ?? '').toLowerCase().replace(/\.+$/, '')

function namedParts({ on, name }: On<'header' | 'cookie' | 'query'>, { query, headers }: AskedRequest) {
  if (on === 'query') return valuesNamed(name, query.split('&'))
  const wanted = on === 'cookie' ? 'cookie' : name
  const lines = headers.filter(([header]) => header.toLowerCase() === wanted).map(([, line]) => line)
  if (on === 'cookie')
    return valuesNamed(
      name,
      lines.flatMap((line) => elementsOf(line, ';')),
    )
  return lines.flatMap((line) => [line, ...elementsOf(line, ',')])
}

const valuesNamed = (name: string, pairs: readonly string[]): readonly string[] =>
  pairs.filter((pair) => pair === name || pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))

const elementsOf = (line: string, separator: string): readonly string[] =>
  line.split(separator).map((element) => element.replace(/^[ \t]+|[ \t]+$/g, ''))

function fits(condition: RouteCondition, value: string, part: string): boolean {
  if (condition.on === 'source') return isIn(value, part)
  switch ('compare' in condition ? condition.compare : 'exact') {
    case 'exact':
      return part === value
    case 'one-label':
      return isBelow(value, part) && !part.slice(0, -value.length - 1).includes('.')
    case 'any-labels':
      return isBelow(value, part)
    case 'elements':
      return `${part}/`.startsWith(`${value.replace(/\/+$/, '')}/`)
    case 'prefix':
      return part.startsWith(value)
    case 'ends-with':
      return part.endsWith(value)
    case 'contains':
      return part.includes(value)
    case 'regex':
      // The automaton takes one step a byte. A tenant's expression cannot make it slow, as it could a RegExp.
      return matchesRegex(compileRegex(parseRegex(value, condition.on === 'host')), part)
  }
}

const isBelow = (domain: string, name: string): boolean => name.endsWith(`.${domain}`)

const isIn = (network: string, address: string): boolean =>
  cidrsOverlap(parseCidr(network), parseCidr(`${address}/${address.includes(':') ? 128 : 32}`))
