import { headerName } from '@spout/model'
import type { AnnotationReader } from './annotation-reader.ts'

/**
 * The requests that the Service of a canary Ingress gets instead of the Service of the Ingress with the same host and
 * path. The header decides first, then the cookie, then chance.
 */
export interface Canary {
  readonly header: { readonly name: string; readonly by: HeaderMatch } | null
  /** Name of a cookie with the value `always` or `never`. */
  readonly cookie: string | null
  /** The share of the remaining requests: this many of `total`. */
  readonly weight: number
  readonly total: number
}

/** `always-never`: with value `always` the canary gets the request, with `never` it does not. */
export type HeaderMatch =
  | { readonly type: 'always-never' }
  | { readonly type: 'exact' | 'regex'; readonly value: string }

const COOKIE_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/
const MOST_WEIGHT = 1_000_000

/** Reads the annotations for canaries; null when the Ingress is no canary. */
export function canaryOf(read: AnnotationReader): Canary | null {
  if (!read.flag('canary')) return null
  const header = read.text('canary-by-header')
  const name = header === undefined ? undefined : read.parsed('canary-by-header', headerName, header)
  const cookie = read.text('canary-by-cookie')
  const isCookie = cookie === undefined || COOKIE_NAME.test(cookie)
  if (!isCookie) read.invalid('canary-by-cookie', 'is not the name of a cookie')
  const total = read.whole('canary-weight-total', 1, MOST_WEIGHT) ?? 100
  return {
    header: name === undefined ? null : { name, by: matchOf(read) },
    cookie: isCookie ? (cookie ?? null) : null,
    weight: read.whole('canary-weight', 0, total) ?? 0,
    total,
  }
}

function matchOf(read: AnnotationReader): HeaderMatch {
  const [value, pattern] = [read.text('canary-by-header-value'), read.text('canary-by-header-pattern')]
  if (value !== undefined) return { type: 'exact', value }
  return pattern === undefined ? { type: 'always-never' } : { type: 'regex', value: pattern }
}
