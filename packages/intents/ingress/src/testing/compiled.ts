import type { CertificateSight } from '@spout/connector'
import type { EndpointSlice, Ingress, Service } from '@spout/kube'
import { type Compiled, compile } from '../to-model/compile.ts'
import type { Surroundings } from '../to-model/surroundings.ts'
import { service, uid } from './objects.ts'

const slice = (of: string, address: string): EndpointSlice => ({
  metadata: { name: `${of}-1`, namespace: 'shop', labels: { 'kubernetes.io/service-name': of } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
})
const SERVICES: Readonly<Record<string, Service>> = {
  'shop/web': service('web'),
  'shop/next': service('next'),
  'shop/sorry': service('sorry'),
  'shop/idle': service('idle'),
}
const SLICES: Readonly<Record<string, EndpointSlice>> = {
  'shop/web': slice('web', '10.0.0.1'),
  'shop/next': slice('next', '10.0.0.2'),
  'shop/sorry': slice('sorry', '10.0.0.3'),
}
const CERTIFICATE: CertificateSight = {
  type: 'ready',
  certificate: { id: uid(901), name: '', tags: [], names: ['a.example', '*.a.example'] },
  notice: null,
}

/**
 * Namespace `shop` with Services web, next and sorry, and idle without endpoints; any Secret is a certificate, any
 * ConfigMap a header.
 */
const AROUND: Surroundings = {
  cluster: 'c1',
  loadBalancerClass: null,
  service: (key) => SERVICES[key],
  slices: (key) => (SLICES[key] === undefined ? [] : [SLICES[key]]),
  certificate: () => CERTIFICATE,
  configMap: () => ({ value: { 'X-Frame-Options': 'DENY' } }),
  families: [4],
  domains: [],
}

const compiledIn =
  (around: Surroundings) =>
  (...all: readonly Ingress[]): Compiled =>
    compile(all, around)

export const compiled = Object.assign(compiledIn(AROUND), {
  /** With other surroundings. */
  around: (own: Partial<Surroundings>) => compiledIn({ ...AROUND, ...own }),
})

export const routesOf = ({ content }: Compiled, protocol = 'http') =>
  content.listeners.find((one) => one.protocol === protocol)?.routes ?? []

/** A request, with the fields that these tests compare. */
export interface AskedRequest {
  readonly host?: string
  readonly path?: string
  readonly source?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly cookies?: Readonly<Record<string, string>>
  /** The common name in the client's certificate; absent: the client has no certificate. */
  readonly clientName?: string
}

type Route = ReturnType<typeof routesOf>[number]
type Condition = Route['conditions'][number]

/** The first route that takes a request. */
export const routeOfRequest = (of: Compiled, request: AskedRequest, protocol = 'http'): Route | undefined =>
  routesOf(of, protocol).find(({ conditions }) => conditions.every((one) => holds(one, request)))

/** The action of the first route that takes a request, as text; `none` without one. */
export function answer(of: Compiled, request: AskedRequest, protocol = 'http'): string {
  const route = routeOfRequest(of, request, protocol)
  return route === undefined ? 'none' : actionText(route.action, request.path ?? '/')
}

function holds(condition: Condition, request: AskedRequest): boolean {
  return condition.values.some((value) => fits(condition, value, request)) !== condition.not
}

function fits(condition: Condition, value: string, request: AskedRequest): boolean {
  const { host = 'a.example', path = '/', source = '192.0.2.1', headers = {}, cookies = {} } = request
  switch (condition.on) {
    case 'host':
      return condition.compare === 'exact' ? host === value : host.split('.').slice(1).join('.') === value
    case 'path':
      return fitsText(condition.compare, value, path)
    case 'source':
      return (
        value === '0.0.0.0/0' ||
        value.split('/')[0]?.split('.').slice(0, 3).join('.') === source.split('.').slice(0, 3).join('.')
      )
    case 'header':
      return headers[condition.name] !== undefined && fitsText(condition.compare, value, headers[condition.name]!)
    case 'cookie':
      return cookies[condition.name] === value
    case 'client-certificate':
      return value === (request.clientName === undefined ? 'absent' : 'present')
    case 'client-name':
      return request.clientName !== undefined && fitsText(condition.compare, value, request.clientName)
    default:
      throw new Error(`no request of these tests has a ${condition.on}`)
  }
}

function fitsText(compare: string, value: string, text: string): boolean {
  if (compare === 'exact') return text === value
  if (compare === 'prefix') return text.startsWith(value)
  if (compare === 'elements') return text === value || text.startsWith(`${value}/`)
  if (compare !== 'regex') throw new Error(`no request of these tests is compared by ${compare}`)
  return value.startsWith('(?i)') ? new RegExp(value.slice(4), 'i').test(text) : new RegExp(value).test(text)
}

function actionText(action: Route['action'], path: string): string {
  if (action.type === 'respond') return String(action.code)
  if (action.type === 'redirect') {
    const { code, scheme, host, port, path: whole, pathPrefix } = action
    const authority =
      scheme === null && host === null ? '' : `${scheme ?? ''}://${host ?? ''}${port === null ? '' : `:${port}`}`
    return `${code} ${authority}${whole ?? `${pathPrefix ?? ''}${path}`}`
  }
  const pools = action.pools.map(
    ({ pool, weight }) => `${pool.replace(/^shop\/|:80/g, '')}${weight === 1 ? '' : `*${weight}`}`,
  )
  const rewrite = action.filters?.find((one) => one.type === 'rewrite')
  const { path: whole = null, prefix = null } = rewrite ?? {}
  const rewritten =
    prefix === null
      ? whole
      : `${prefix.to}/${path.slice(prefix.from.length)}`.replaceAll(/\/\/+/g, '/').replace(/(?<=.)\/$/, '')
  return `${pools.join('+').replaceAll(/:80/g, '')}${rewritten === null ? '' : ` ${rewritten}`}`
}

export const problemsOf = ({ problems }: Compiled, one: Ingress) =>
  (problems.get(one.metadata.uid ?? '') ?? []).map(({ reason, field }) => `${reason} ${field}`)
