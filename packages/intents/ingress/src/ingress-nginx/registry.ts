/** The prefix of all annotations of ingress-nginx. */
export const NGINX_PREFIX = 'nginx.ingress.kubernetes.io/'

/**
 * How an annotation is supported.
 * - `taken`: it works as in ingress-nginx.
 * - `differs`: it works with the difference that the note describes.
 * - `refused`: all paths of the Ingress answer 503, because the annotation protects them or is essential.
 * - `not taken`: it is ignored and reported; the Ingress is served without it.
 */
export type Support = 'taken' | 'differs' | 'refused' | 'not taken'

export interface KnownAnnotation {
  readonly support: Support
  /** What differs, or why it is not supported: a clause for users. */
  readonly note: string
}

type Rows = Readonly<Record<string, string>>

const rowsOf = (support: Support, rows: Rows) =>
  Object.entries(rows).map(([name, note]) => [name, { support, note }] as const)

const TAKEN: Rows = {
  'app-root': 'requests for `/` are redirected there (302)',
  'permanent-redirect': '301; `$scheme`, `$host` and a last `$request_uri` are understood, no other variable',
  'permanent-redirect-code': '301, 302, 303, 307 or 308',
  'temporal-redirect': '302; before a permanent redirect',
  'temporal-redirect-code': '301, 302, 303, 307 or 308',
  'from-to-www-redirect': 'the name with or without `www.` that has no rule is redirected to the other (308)',
  'use-regex':
    'all paths of the host become expressions without regard to case, the longest first; the subset of RE2, at most 50 different ones at an address',
  'enable-cors': 'preflight requests are answered, with the usual methods and headers of ingress-nginx',
  'cors-allow-methods': '',
  'cors-allow-headers': '',
  'cors-expose-headers': '',
  'whitelist-source-range': 'other clients get 403',
  'allowlist-source-range': 'other clients get 403',
  'denylist-source-range': 'these clients get 403',
  'limit-whitelist': 'these clients have neither rate nor connections limited; 32 networks at most',
  'limit-allowlist': 'these clients have neither rate nor connections limited; 32 networks at most',
  canary:
    'its Service gets a part of the requests of the Ingress with the same host and path, whose annotations it has',
  'canary-by-header': '',
  'canary-by-header-value': '',
  'canary-by-cookie': '',
  'canary-weight': '',
  'canary-weight-total': '',
  'upstream-vhost': '`Host` of requests to pods',
  'x-forwarded-prefix': '',
  'server-alias': 'names, no expressions; a rule for the name goes first',
  'mirror-target': 'a Service of the namespace (`http://NAME.NAMESPACE.svc:PORT$request_uri`), and nothing else',
  'session-cookie-name': '',
  'session-cookie-path': '',
  'session-cookie-samesite': '',
  'session-cookie-max-age': 'a year at most',
  'auth-signin-redirect-param': '',
  'auth-response-headers': 'what clients send under these names is removed',
  'auth-always-set-cookie': '',
  'proxy-ssl-name': '',
  'proxy-ssl-protocols': 'TLS 1.2 and 1.3',
}

const DIFFERS: Rows = {
  'ssl-redirect':
    'hosts with TLS are redirected (308) only if it is `true`; ingress-nginx does so unless it is `false`',
  'force-ssl-redirect':
    'all hosts are redirected once there is a certificate; `X-Forwarded-Proto` of clients is not believed',
  'rewrite-target':
    'a whole path, or the part that `(.*)` took: `/a(/|$)(.*)` to `/b/$2`. Any other group is refused. Requests that differ from the path in case get 503',
  'cors-allow-origin': '`*` allows no credentials, as browsers have it',
  'cors-allow-credentials': 'not for `*`',
  'cors-max-age': 'a day at most',
  'proxy-read-timeout': 'from the request until the response begins, not between two reads',
  'proxy-next-upstream': 'idempotent requests alone; `non_idempotent` is not known',
  'proxy-next-upstream-tries': '6 at most',
  affinity:
    '`cookie`; its name differs unless `session-cookie-name` says it, and its path is / unless `session-cookie-path` says it',
  'session-cookie-expires': '`Max-Age`, as browsers prefer it; `session-cookie-max-age` goes before it',
  'session-cookie-secure': '`false` is not taken beside `SameSite=None`, which browsers drop then',
  'canary-by-header-pattern': 'the subset of RE2',
  'backend-protocol': 'HTTP, HTTPS (members are not verified), GRPCS; others are refused',
  'upstream-hash-by': 'the address of the client (`$remote_addr`, `$binary_remote_addr`), and nothing else',
  'load-balance': '`round_robin`; others are taken as this',
  'limit-rps':
    'refused with 429 and `Retry-After`, not with 503; an IPv6 client is its /64; each node counts by itself',
  'limit-rpm': 'like `limit-rps`, which goes before it',
  'limit-burst-multiplier': '1 to 10; 5 without it',
  'limit-connections':
    'requests of a client at once, for each path; others get 503; an IPv6 client is its /64; each node counts by itself',
  'auth-tls-secret':
    'of the namespace; one for all Ingresses of an address; all its clients are asked for a certificate, and one of another authority is refused in the handshake; paths are served over HTTPS alone; `ca.crl` is not taken',
  'auth-tls-verify-client': '`on` (400 without a certificate), `optional`, `off`; another one closes the paths',
  'auth-tls-error-page': '302; as `temporal-redirect`',
  'auth-tls-match-cn': '`CN=` and an expression for the common name from its begin; the subset of RE2',
  'auth-url':
    'of the namespace: a Service (`http://NAME.NAMESPACE.svc:PORT/PATH`), or `$host` or a host and a path that one of its Ingresses has a rule for; each request is asked; another URL closes the paths',
  'auth-method': '`GET` without it; what is no method closes the paths',
  'auth-signin':
    '302; of variables `$scheme`, `$host`, `$http_host` and at the end of a parameter `$request_uri`; another one is not taken, and clients get 401',
  'auth-request-redirect': 'a text without variables, or `$request_uri`',
  'auth-type': '`basic`; another one closes the paths; with `auth-url` beside it both are asked, the password first',
  'auth-secret':
    'of the namespace; hashes of bcrypt (a cost of 12 at most), `$apr1$`, `{SHA}`, `$5$`, `$6$`; with another one, or while the Secret is missing, the paths are closed',
  'auth-secret-type': '`auth-file` or `auth-map`; another one closes the paths',
  'auth-realm': 'printable ASCII; `Authentication required` without it',
  satisfy:
    '`any`: clients of the allow list are not asked about, and of `auth-url` and a password one is enough; the deny list, and client certificates, hold for all',
  'custom-headers':
    'a ConfigMap of the namespace: headers of responses of pods; 16, with 2,000 characters together, but for those of a connection',
  'proxy-body-size':
    'larger ones get 413, also chunked ones, of which pods may get the begin; without it there is no limit',
  'default-backend': 'while its Service has no endpoint; errors of pods are passed on',
}

const PROTECTS = 'it protects these paths, and is not known here'
const REFUSED: Rows = {
  'auth-proxy-set-headers': 'it names a ConfigMap, which is not read',
  'auth-snippet': 'text of a configuration is never taken',
  'enable-global-auth': PROTECTS,
  'enable-modsecurity': PROTECTS,
  'enable-owasp-core-rules': PROTECTS,
  'modsecurity-snippet': 'text of a configuration is never taken',
  'configuration-snippet': 'text of a configuration is never taken',
  'server-snippet': 'text of a configuration is never taken',
  'stream-snippet': 'text of a configuration is never taken',
  'proxy-ssl-verify': 'members cannot be verified, since no authority is read from Secrets',
  'ssl-passthrough': 'pods that end TLS need a Gateway with a TLSRoute, or a Service of type LoadBalancer',
}

const NOT_TAKEN: Rows = {
  'auth-cache-key': 'each request is asked about',
  'auth-cache-duration': 'each request is asked about',
  'auth-keepalive': 'connections to pods are kept as for any request',
  'auth-keepalive-requests': 'connections to pods are kept as for any request',
  'auth-keepalive-share-vars': 'connections to pods are kept as for any request',
  'auth-keepalive-timeout': 'connections to pods are kept as for any request',
  'auth-tls-verify-depth': 'chains of any length are taken, as their authorities allow',
  'auth-tls-pass-certificate-to-upstream':
    'pods are told of it by x-ssl-client-dn, x-ssl-client-cn, x-ssl-issuer and x-ssl-client-sha1',
  'service-upstream': 'requests go to endpoints, not to the cluster IP',
  'affinity-mode': 'clients keep their pod while it is healthy',
  'affinity-canary-behavior': 'a canary is chosen for each request',
  'session-cookie-domain': 'the cookie is for the host alone',
  'session-cookie-conditional-samesite-none': 'the cookie is the same for all browsers',
  'session-cookie-change-on-failure': 'another pod is always taken',
  'client-body-buffer-size': 'bodies are not buffered',
  'proxy-buffering': 'responses are not buffered',
  'proxy-request-buffering': 'requests are not buffered',
  'proxy-buffers-number': 'responses are not buffered',
  'proxy-buffer-size': 'responses are not buffered',
  'proxy-busy-buffers-size': 'responses are not buffered',
  'proxy-max-temp-file-size': 'responses are not buffered',
  'proxy-http-version': 'pods get HTTP/1.1',
  'proxy-connect-timeout': 'a connection may take 5 seconds',
  'proxy-send-timeout': 'pods may take 50 seconds',
  'proxy-next-upstream-timeout': 'proxy-next-upstream-tries ends it',
  'limit-rate': 'bandwidth is not limited by response',
  'limit-rate-after': 'bandwidth is not limited by response',
  'connection-proxy-header': 'how messages are transferred is not a choice',
  'proxy-cookie-domain': 'cookies are passed on as they are',
  'proxy-cookie-path': 'cookies are passed on as they are',
  'proxy-redirect-from': 'responses are passed on as they are',
  'proxy-redirect-to': 'responses are passed on as they are',
  'relative-redirects': 'redirects name scheme and host',
  'preserve-trailing-slash': 'paths are passed on as they are',
  'custom-http-errors': 'responses are passed on as they are',
  'disable-proxy-intercept-errors': 'responses are passed on as they are',
  'mirror-host': 'copies have the host of the request',
  'mirror-request-body': 'copies have a body',
  'proxy-ssl-secret': 'no key and no authority for members is read from Secrets',
  'proxy-ssl-ciphers': 'members are offered the usual ones',
  'proxy-ssl-verify-depth': 'members are not verified',
  'proxy-ssl-server-name': 'members are always asked for a name',
  'ssl-ciphers': 'hosts of one address have the same ones',
  'ssl-prefer-server-ciphers': 'hosts of one address have the same ones',
  'upstream-hash-by-subset': 'all endpoints are used',
  'upstream-hash-by-subset-size': 'all endpoints are used',
  'http2-push-preload': 'browsers no longer know it',
  'enable-access-log': 'an access log is of a load balancer',
  'enable-rewrite-log': 'there is none',
  'enable-opentelemetry': 'there is none',
  'opentelemetry-trust-incoming-span': 'there is none',
  'opentelemetry-operation-name': 'there is none',
  'enable-opentracing': 'there is none',
  'opentracing-trust-incoming-span': 'there is none',
  'modsecurity-transaction-id': 'there is none',
}

/** All annotations of ingress-nginx that are known, by their name after the prefix. */
export const NGINX_ANNOTATIONS: ReadonlyMap<string, KnownAnnotation> = new Map([
  ...rowsOf('taken', TAKEN),
  ...rowsOf('differs', DIFFERS),
  ...rowsOf('refused', REFUSED),
  ...rowsOf('not taken', NOT_TAKEN),
])
