import type { Refusal } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { type RedirectAction, routeCondition } from '@spout/model'
import { AnnotationReader } from './annotation-reader.ts'
import { redirectTo } from './redirects.ts'
import { NGINX_PREFIX } from './registry.ts'

/** The clients that may send requests, by certificate. */
export interface ClientCertificates {
  /** The Secret with the authorities, `namespace/name`. */
  readonly secret: string
  /** Whether clients without a certificate are refused. */
  readonly isRequired: boolean
  /** Where refused clients are redirected to; null: they get 400. */
  readonly errorPage: RedirectAction | null
  /** A regular expression for the common name. Clients with another name get 403. Null: any name. */
  readonly commonName: string | null
}

const SECRET = 'auth-tls-secret'
const NAME = /^(?<namespace>[a-z0-9-]{1,63})\/(?<name>[a-z0-9][a-z0-9.-]{0,252})$/
const COMMON_NAME = /^CN=(?<expression>.+)$/

/**
 * Reads the annotations for client certificates. As in ingress-nginx, they have no effect without a Secret.
 * @param namespace the namespace of the Ingress. It may not name a Secret of another one
 */
export function clientCertificatesOf(read: AnnotationReader, namespace: string): ClientCertificates | null {
  const text = read.text(SECRET)
  const verify = read.text('auth-tls-verify-client') ?? 'on'
  if (text === undefined || verify === 'off') return null
  const named = NAME.exec(text)?.groups
  if (named?.['namespace'] !== namespace) {
    read.refuse(SECRET, 'it is not the name of a Secret of the namespace, such as NAMESPACE/NAME')
    return null
  }
  if (verify !== 'on' && verify !== 'optional')
    read.refuse(
      'auth-tls-verify-client',
      'anybody can make a certificate with any name: it is on, optional or off here',
    )
  const subject = read.text('auth-tls-match-cn')
  const commonName = subject === undefined ? null : (COMMON_NAME.exec(subject)?.groups?.['expression'] ?? '')
  if (commonName === '' || (commonName !== null && !routeCondition.safeParse(otherName(commonName)).success))
    read.refuse('auth-tls-match-cn', 'it is not CN= and an expression that is known here')
  return {
    secret: text,
    isRequired: verify === 'on',
    errorPage: redirectTo(read, 'auth-tls-error-page', 302) ?? null,
    commonName,
  }
}

/** The expression, anchored at the start of the name. */
export const nameExpression = (commonName: string): string => `^(?:${commonName})`

/** The condition for clients without a common name, or with one that does not match. */
export const otherName = (commonName: string) => ({
  ...{ on: 'client-name' as const, name: 'CN' as const, compare: 'regex' as const, not: true },
  values: [nameExpression(commonName)],
})

/** `namespace/name` of the Secret with authorities that an Ingress names and may name; null for none. */
export const authoritiesNamedBy = ({ metadata }: Ingress): string | null =>
  clientCertificatesOf(new AnnotationReader(metadata.annotations ?? {}), metadata.namespace ?? '')?.secret ?? null

/** The refusal that is reported when all paths of an Ingress answer 503 because of its authorities. */
export const authoritiesRefused = (why: string): Refusal => ({
  reason: 'AnnotationRefused',
  field: `metadata.annotations[${NGINX_PREFIX}${SECRET}]`,
  message: `not taken: ${why}; all paths of this Ingress are answered with 503.`,
})
