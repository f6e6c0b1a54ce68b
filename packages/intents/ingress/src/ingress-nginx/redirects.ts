import { pathAndQueryText, type RedirectAction, redirectAction } from '@spout/model'
import { REDIRECT_CODES } from '@spout/model/route-words'
import type { AnnotationReader } from './annotation-reader.ts'

export interface Redirects {
  /** The plain HTTP requests that are redirected to HTTPS. */
  readonly ssl: 'none' | 'hosts-with-tls' | 'all'
  /** A redirect for all requests. */
  readonly all: RedirectAction | null
  /** Where requests for `/` are sent, such as `/app`. */
  readonly appRoot: string | null
  /** Whether the host's name without `www.`, or with it, is redirected to the host. */
  readonly www: boolean
}

export function redirectsOf(read: AnnotationReader): Redirects {
  // Both are always read, so that an invalid value is reported in either.
  const [forced, wanted] = [read.flag('force-ssl-redirect'), read.flag('ssl-redirect')]
  const [temporal, permanent] = [
    redirectTo(read, 'temporal-redirect', 302),
    redirectTo(read, 'permanent-redirect', 301),
  ]
  return {
    ssl: forced ? 'all' : wanted ? 'hosts-with-tls' : 'none',
    all: temporal ?? permanent ?? null,
    appRoot: appRootOf(read) ?? null,
    www: read.flag('from-to-www-redirect'),
  }
}

const URL_PARTS =
  /^(?:(?<scheme>https?|\$scheme):\/\/(?<host>\$host|[A-Za-z0-9._-]+)(?::(?<port>\d{1,5}))?)?(?<path>\/[^$]*)?(?<rest>\$request_uri)?$/

/** Reads a redirect. @param name the annotation with the URL or path @param usual the default code */
export function redirectTo(read: AnnotationReader, name: string, usual: number): RedirectAction | undefined {
  const code = read.whole(`${name}-code`, 300, 399) ?? usual
  const text = read.text(name)
  if (text === undefined) return undefined
  const isKnown = REDIRECT_CODES.some((one) => one === code)
  if (!isKnown) read.invalid(`${name}-code`, `must be one of ${REDIRECT_CODES.join(', ')}`)
  const { scheme, host, port, path = '', rest } = URL_PARTS.exec(text)?.groups ?? {}
  if (host === undefined && path === '') {
    read.invalid(name, 'is no URL, and no path, of which only $scheme, $host and a last $request_uri are understood')
    return undefined
  }
  const prefix = path.replace(/\/+$/, '')
  return read.parsed(name, redirectAction, {
    type: 'redirect',
    code: isKnown ? code : usual,
    scheme: scheme === undefined || scheme === '$scheme' ? null : scheme,
    host: host === undefined || host === '$host' ? null : host,
    port: port === undefined ? null : Number(port),
    path: rest === undefined ? path || '/' : null,
    pathPrefix: rest === undefined || prefix === '' ? null : prefix,
  })
}

function appRootOf(read: AnnotationReader): string | undefined {
  const text = read.text('app-root')
  if (text === undefined) return undefined
  if (text !== '/') return read.parsed('app-root', pathAndQueryText, text)
  read.invalid('app-root', 'leads to itself')
  return undefined
}
