import { type OrRefusal, refuse, shown } from '@spout/connector'
import type { Ingress } from '@spout/kube'

/** What the annotations of an Ingress say, as typed data. Annotations of other controllers are added here. */
export interface IngressOptions {
  /** Requests in plain HTTP for hosts with TLS are sent to HTTPS. */
  readonly sslRedirect: boolean
}

export const SSL_REDIRECT = 'spout.dev/ssl-redirect'
const PREFIX = 'spout.dev/'
export const KNOWN_ANNOTATIONS: readonly string[] = [SSL_REDIRECT]
export const NO_OPTIONS: IngressOptions = { sslRedirect: false }

/** A value that is not understood is a refusal: the Ingress is then served as if the annotation was not there. */
export function optionsOf({ metadata }: Ingress): OrRefusal<IngressOptions> {
  const { annotations = {} } = metadata
  const unknown = Object.keys(annotations).find((name) => name.startsWith(PREFIX) && !KNOWN_ANNOTATIONS.includes(name))
  if (unknown !== undefined)
    return refuse('UnknownAnnotation', field(unknown), `Nothing here has an annotation ${shown(unknown)}.`)
  const redirect = annotations[SSL_REDIRECT]
  if (redirect === undefined || redirect === 'false') return { value: NO_OPTIONS }
  if (redirect === 'true') return { value: { sslRedirect: true } }
  return refuse('InvalidAnnotation', field(SSL_REDIRECT), `"${shown(redirect)}" is neither true nor false.`)
}

const field = (name: string): string => `metadata.annotations[${shown(name)}]`
