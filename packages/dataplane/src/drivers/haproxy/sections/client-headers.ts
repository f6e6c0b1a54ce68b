import type { Service } from '@spout/model'

type InsertHeader = Service['insertHeaders'][number]
/** A header that a request gets besides the `x-forwarded-*` ones. One of that name from the client is replaced. */
export type ClientHeader = Exclude<InsertHeader, `x-forwarded-${string}`>

/** Names in certificates can hold anything, since authorities are the tenant's. A control character would end a header. */
const printable = (name: string): string => `${name},regsub([[:cntrl:]],?,g)`

/** The HAProxy sample for each header. It is empty when the client sent no certificate. */
const SAMPLES: Readonly<Record<ClientHeader, string>> = {
  'x-real-ip': 'src',
  'x-ssl-client-verify': 'ssl_c_verify',
  'x-ssl-client-has-cert': 'ssl_c_used',
  'x-ssl-client-dn': printable('ssl_c_s_dn'),
  'x-ssl-client-cn': printable('ssl_c_s_dn(cn)'),
  'x-ssl-issuer': printable('ssl_c_i_dn'),
  'x-ssl-client-sha1': 'ssl_c_sha1,hex',
  'x-ssl-client-not-before': 'ssl_c_notbefore',
  'x-ssl-client-not-after': 'ssl_c_notafter',
}

/** In the order of `SAMPLES`. */
export const clientHeaders = (inserted: readonly InsertHeader[]): readonly ClientHeader[] =>
  (Object.keys(SAMPLES) as ClientHeader[]).filter((header) => inserted.includes(header))

/** `_` for `-` is the same header to CGI-like servers. */
export const clientHeaderRules = (header: ClientHeader): readonly string[] => [
  `    http-request del-header ${header.replaceAll('-', '_')}`,
  `    http-request set-header ${header} "%[${SAMPLES[header]}]"`,
]
