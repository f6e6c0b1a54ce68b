import { type RouteAuthorizer, routeAuthorizer } from '@spout/model'
import type { AnnotationReader } from './annotation-reader.ts'

type SignIn = NonNullable<RouteAuthorizer['signIn']>

const NAME = 'auth-signin'
const SIGN_IN =
  /^(?<scheme>https?|\$scheme|\$pass_access_scheme):\/\/(?<host>\$host|\$http_host|[a-zA-Z0-9.-]+)(?::(?<port>\d{1,5}))?(?<path>\/[^?#$]*)?(?:\?(?<query>[^#]*))?$/
/** A parameter with the address that the client requested: the whole URL, or path and query. */
const COMES_FROM =
  /^(?<origin>(?:https?|\$scheme|\$pass_access_scheme):\/\/(?:\$host|\$http_host))?\$(?:escaped_)?request_uri$/

/**
 * The page on which clients sign in. An invalid URL is ignored, and clients get 401. If the URL
 * contains the address that the client requested, no parameter is added, as in ingress-nginx.
 */
export function signInOf(read: AnnotationReader): SignIn | null {
  const text = read.text(NAME)
  const parameter = read.text('auth-signin-redirect-param') ?? 'rd'
  if (text === undefined) return null
  const { scheme = '', host = '', port, path = '/', query = '' } = SIGN_IN.exec(text)?.groups ?? {}
  const pairs = query.split('&').filter((pair) => pair !== '')
  const own = pairs.find((pair) => pair.includes('$'))
  const fixed = pairs.filter((pair) => pair !== own)
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(own ?? '') ?? []
  const from = COMES_FROM.exec(value)
  if (host === '' || (own !== undefined && from === null) || fixed.some((pair) => pair.includes('$'))) {
    read.invalid(NAME, 'is no URL that is known here, such as https://$host/start?rd=$escaped_request_uri')
    return null
  }
  const added = fixed.some((pair) => pair.startsWith(`${parameter}=`)) ? null : { parameter, as: 'url' }
  const returnTo = from === null ? added : { parameter: name, as: from.groups?.['origin'] ? 'url' : 'path' }
  const signIn = {
    scheme: scheme.startsWith('$') ? null : scheme,
    host: host.startsWith('$') ? null : host,
    port: port === undefined ? null : Number(port),
    path: `${path}${fixed.length === 0 ? '' : `?${fixed.join('&')}`}`,
    returnTo,
  }
  return read.parsed(NAME, routeAuthorizer.shape.signIn, signIn) ?? null
}
