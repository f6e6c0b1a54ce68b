import type { Feature } from '../../contracts/driver.ts'

const ALWAYS: readonly Feature[] = [
  'l7.client-certificates',
  'l7.client-certificates.crl',
  'l7.client-certificates.invalid',
  'l7.cookies',
  'l7.dedicated-proxy',
  'l7.http',
  'l7.https',
  'l7.pool-h2c',
  'l7.pool-tls',
  'l7.pool-tls.crl',
  'l7.proxy-protocol',
  'l7.routes',
  'l7.routes.answered-shares',
  'l7.routes.client-concurrency',
  'l7.routes.timeouts',
  'l7.tcp-proxy',
  'l7.tls-ciphers',
]
const WITH_LUA: readonly Feature[] = [
  'l7.application-cookies',
  'l7.cookies.attributes',
  'l7.request-sizes',
  'l7.routes.authorizers',
  'l7.routes.body-limits',
  'l7.routes.client-rates',
  'l7.routes.filters',
  'l7.routes.mirrors',
  'l7.routes.pool-filters',
  'l7.routes.prefix-redirects',
  'l7.routes.retries',
  'l7.routes.tests',
  'l7.separate-hosts',
  'l7.tls',
  'l7.tls-passthrough',
  'l7.tls-shared-ports',
]

/** The features of proxies with this executable and the parts that the agent connects to them. */
export const featuresOf = (has: {
  readonly lua: boolean
  readonly passwords: boolean
  readonly metrics: boolean
  readonly requests: boolean
  readonly accessLogs: boolean
  readonly syslog: boolean
}): ReadonlySet<Feature> =>
  new Set([
    ...ALWAYS,
    ...(has.lua ? WITH_LUA : []),
    ...(has.lua && has.passwords
      ? (['l7.routes.authorizers-with-passwords', 'l7.routes.basic-authentication'] as const)
      : []),
    ...(has.metrics ? (['l7.metrics'] as const) : []),
    ...(has.requests ? (['l7.latencies', 'l7.latencies.routes'] as const) : []),
    ...(has.requests && has.accessLogs ? (['l7.access-log'] as const) : []),
    ...(has.requests && has.syslog ? (['l7.access-log.syslog', 'l7.access-log.syslog-tls'] as const) : []),
  ])
