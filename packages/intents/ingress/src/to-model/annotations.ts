import { type Refusal, shown } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { type NginxOptions, nginxOptionsOf } from '../ingress-nginx/options.ts'
import type { Redirects } from '../ingress-nginx/redirects.ts'

/** The annotations of an Ingress, as typed data. */
export interface IngressOptions extends NginxOptions {
  /** The plain HTTP requests that are redirected to HTTPS. */
  readonly sslRedirect: Redirects['ssl']
}

export interface ReadOptions {
  readonly options: IngressOptions
  readonly problems: readonly Refusal[]
}

export const SSL_REDIRECT = 'spout.dev/ssl-redirect'
const PREFIX = 'spout.dev/'
export const KNOWN_ANNOTATIONS: readonly string[] = [SSL_REDIRECT]

/**
 * Reads our annotations and those of ingress-nginx. Ours take precedence. An invalid value is a problem: the Ingress is
 * then served as if the annotation were missing, unless it protects something.
 */
export function optionsOf(ingress: Ingress): ReadOptions {
  const { annotations = {} } = ingress.metadata
  const { options, problems } = nginxOptionsOf(ingress)
  const own = annotations[SSL_REDIRECT]
  const wrong: Refusal[] = Object.keys(annotations)
    .filter((name) => name.startsWith(PREFIX) && !KNOWN_ANNOTATIONS.includes(name))
    .map((name) => ({
      reason: 'UnknownAnnotation',
      field: field(name),
      message: `Annotation ${shown(name)} is not known.`,
    }))
  if (own !== undefined && own !== 'true' && own !== 'false') {
    const message = `"${shown(own)}" is neither true nor false.`
    wrong.push({ reason: 'InvalidAnnotation', field: field(SSL_REDIRECT), message })
  }
  const sslRedirect = own === 'true' ? 'hosts-with-tls' : own === 'false' ? 'none' : options.redirects.ssl
  return { options: { ...options, sslRedirect }, problems: [...wrong, ...problems] }
}

const field = (name: string): string => `metadata.annotations[${shown(name)}]`
