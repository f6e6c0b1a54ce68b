import type { Refusal } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import { type Access, accessOf } from './access.ts'
import { AnnotationReader } from './annotation-reader.ts'
import { type BasicAuth, basicAuthOf } from './basic-auth.ts'
import { type Canary, canaryOf } from './canary.ts'
import { type ClientCertificates, clientCertificatesOf } from './client-certificates.ts'
import { customHeadersOf } from './custom-headers.ts'
import { type ExternalAuth, externalAuthOf } from './external-auth.ts'
import { type Forwarding, forwardingOf } from './forwarding.ts'
import { type Paths, pathsOf } from './paths.ts'
import { type PoolOptions, poolOptionsOf } from './pool-options.ts'
import { type Redirects, redirectsOf } from './redirects.ts'
import { NGINX_ANNOTATIONS } from './registry.ts'

/** The annotations of ingress-nginx on one Ingress, as typed data. */
export interface NginxOptions {
  /** Whether an annotation protects its paths in a way that is not supported. Then they answer 503. */
  readonly isRefused: boolean
  readonly redirects: Redirects
  readonly access: Access
  readonly clients: ClientCertificates | null
  readonly auth: ExternalAuth | null
  readonly basic: BasicAuth | null
  readonly forwarding: Forwarding
  /** `namespace/name` of the ConfigMap with headers for responses; null for none. */
  readonly customHeaders: string | null
  readonly pool: PoolOptions
  readonly paths: Paths
  readonly canary: Canary | null
}

export interface ReadAnnotations {
  readonly options: NginxOptions
  /** The annotations that have no effect, each with the reason. */
  readonly problems: readonly Refusal[]
}

/** Reads the annotations of ingress-nginx. Pure. It never throws, whatever the annotations contain. */
export function nginxOptionsOf({ metadata }: Ingress): ReadAnnotations {
  const read = new AnnotationReader(metadata.annotations ?? {})
  const canary = canaryOf(read)
  const isCanary = canary !== null
  // The annotations of the Ingress whose requests a canary gets apply to the canary, too.
  const own = isCanary ? new AnnotationReader({}) : read
  const options = {
    redirects: redirectsOf(own),
    access: accessOf(own),
    clients: clientCertificatesOf(own, metadata.namespace ?? ''),
    auth: externalAuthOf(own, metadata.namespace ?? ''),
    basic: basicAuthOf(own, metadata.namespace ?? ''),
    forwarding: forwardingOf(own, metadata.namespace ?? ''),
    customHeaders: customHeadersOf(own, metadata.namespace ?? ''),
    pool: poolOptionsOf(read),
    paths: pathsOf(own),
    canary,
  }
  for (const name of read.names)
    if (!isCanary) tellUntaken(read, name)
    else if (!OF_CANARIES.test(name) && !OFF.has(read.text(name)))
      read.notTaken(name, 'a canary has the annotations of the Ingress whose requests it gets')
  return { options: { ...options, isRefused: own.isRefused }, problems: read.problems }
}

const OF_CANARIES = /^(canary.*|affinity|upstream-hash-by|load-balance)$/

/** Values that switch an annotation off. */
const OFF: ReadonlySet<string | undefined> = new Set([undefined, 'false', 'off'])

function tellUntaken(read: AnnotationReader, name: string): void {
  if (OFF.has(read.text(name))) return
  const known = NGINX_ANNOTATIONS.get(name)
  if (known?.support === 'refused') read.refuse(name, known.note)
  else if (known?.support === 'not taken') read.notTaken(name, known.note)
  // An unknown annotation with such a name may protect paths in a later version of ingress-nginx.
  else if (known === undefined && /^auth-|snippet$/.test(name)) read.refuse(name, 'it is not known here')
  else if (known === undefined) read.notTaken(name, 'it is not known here')
}
