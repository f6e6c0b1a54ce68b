import { type RouteFilter, routeFilter } from '@spout/model'
import type { AnnotationReader } from './annotation-reader.ts'

/** The defaults of ingress-nginx. */
const USUAL_METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS']
const USUAL_HEADERS = [
  ...['DNT', 'Keep-Alive', 'User-Agent', 'X-Requested-With', 'If-Modified-Since'],
  ...['Cache-Control', 'Content-Type', 'Range', 'Authorization'],
]
const USUAL_MAX_AGE_S = 1_728_000
/** No browser caches a preflight answer longer. */
const MOST_MAX_AGE_S = 86_400

/**
 * Reads the annotations for CORS.
 * @returns undefined without CORS, or when a value is wrong: then browsers refuse requests of other origins
 */
export function corsOf(read: AnnotationReader): RouteFilter | undefined {
  if (!read.flag('enable-cors')) return undefined
  const origins = read.list('cors-allow-origin') ?? ['*']
  const credentials = read.text('cors-allow-credentials') !== 'false'
  const maxAgeSeconds = Math.min(read.whole('cors-max-age', 0, 999_999_999) ?? USUAL_MAX_AGE_S, MOST_MAX_AGE_S)
  return read.parsed('enable-cors', routeFilter, {
    type: 'cors',
    origins,
    methods: read.list('cors-allow-methods') ?? USUAL_METHODS,
    headers: read.list('cors-allow-headers') ?? USUAL_HEADERS,
    exposeHeaders: read.list('cors-expose-headers') ?? [],
    // ingress-nginx answers `*`, which browsers refuse together with credentials. Answering with the request's origin
    // instead would admit every site.
    credentials: credentials && !origins.includes('*'),
    maxAgeSeconds,
  })
}
