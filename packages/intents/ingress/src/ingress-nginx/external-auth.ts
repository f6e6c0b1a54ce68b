import { hostText, pathAndQueryText, type RouteAuthorizer, routeAuthorizer } from '@spout/model'
import type { AnnotationReader } from './annotation-reader.ts'
import { satisfiesAny } from './satisfy.ts'
import { signInOf } from './sign-in.ts'

/**
 * Where the authorizer is: a Service of the namespace, or the Service that serves the URL at a host. A host of null is
 * the host of the request.
 */
export type AskedService = { readonly service: string; readonly port: number } | { readonly host: string | null }

/** External authentication: who decides whether requests are allowed. */
export interface ExternalAuth {
  readonly asks: AskedService
  /** Path and query of requests to the authorizer. */
  readonly path: string
  readonly authorizer: Omit<RouteAuthorizer, 'poolId'>
  /** `satisfy: any`: whether clients on the allow list pass without the authorizer, and others if it agrees. */
  readonly orAllowed: boolean
}

const URL_NAME = 'auth-url'
const AUTH_URL =
  /^(?<scheme>https?):\/\/(?<host>\$host|\$http_host|[a-z0-9.-]+)(?::(?<port>\d{1,5}))?(?<path>\/[^$#]*)?$/
const SERVICE = /^(?<service>[a-z0-9-]{1,63})\.(?<namespace>[a-z0-9-]{1,63})(?<svc>\.svc(?:\.[a-z0-9.-]+)?)?$/
const USUAL_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' }

/**
 * Reads the annotations for external authentication. As in ingress-nginx, they have no effect without `auth-url`.
 * @param namespace the namespace of the Ingress. A Service of another one is not asked
 */
export function externalAuthOf(read: AnnotationReader, namespace: string): ExternalAuth | null {
  const text = read.text(URL_NAME)
  if (text === undefined) return null
  const { scheme = '', host = '', port = USUAL_PORTS[scheme] ?? '', path = '/' } = AUTH_URL.exec(text)?.groups ?? {}
  const asks = host === '' ? null : askedOf(read, { scheme, host, port }, namespace)
  if (host === '' || !pathAndQueryText.safeParse(path).success)
    read.refuse(URL_NAME, 'it is no URL that is known here: of variables it may have $host as its host, and no other')
  const method = routeAuthorizer.shape.method.safeParse(read.text('auth-method') ?? 'GET')
  if (!method.success) read.refuse('auth-method', 'it is no method')
  const takeHeaders = routeAuthorizer.shape.takeHeaders.safeParse(read.list('auth-response-headers') ?? [])
  if (!takeHeaders.success) read.refuse('auth-response-headers', 'it names what is no header, or one of the connection')
  const redirect = read.text('auth-request-redirect')
  const setHeaders = redirect === undefined ? [] : [{ name: 'x-auth-request-redirect', value: redirect }]
  const cookies = read.flag('auth-always-set-cookie') ? ('always' as const) : ('successes' as const)
  if (asks === null || read.isRefused) return null
  return {
    orAllowed: satisfiesAny(read),
    asks,
    path,
    authorizer: {
      ...{ method: method.data ?? 'GET', path, pathPrefix: null, sendHeaders: ['*'], cookies },
      host: host.startsWith('$') ? null : host,
      setHeaders: redirect?.includes('$') ? unknownRedirect(read) : setHeaders,
      takeHeaders: takeHeaders.data ?? [],
      signIn: signInOf(read),
    },
  }
}

function unknownRedirect(read: AnnotationReader): [] {
  if (read.text('auth-request-redirect') !== '$request_uri')
    read.notTaken('auth-request-redirect', 'it has variables; path and query of the request are sent')
  return []
}

function askedOf(
  read: AnnotationReader,
  { scheme, host, port }: { readonly scheme: string; readonly host: string; readonly port: string },
  namespace: string,
): AskedService | null {
  const { service, namespace: named, svc } = SERVICE.exec(host)?.groups ?? {}
  if (service !== undefined && (svc !== undefined || named === namespace)) {
    if (named !== namespace) read.refuse(URL_NAME, 'it is a Service of another namespace, which did not agree to it')
    else if (scheme !== 'http') read.refuse(URL_NAME, 'Services are asked over http')
    else return { service, port: Number(port) }
    return null
  }
  if (port !== USUAL_PORTS[scheme]) read.refuse(URL_NAME, 'an Ingress has the ports 80 and 443')
  else if (host.startsWith('$')) return { host: null }
  else if (hostText.safeParse(host).success) return { host }
  else read.refuse(URL_NAME, 'it has no host name')
  return null
}
