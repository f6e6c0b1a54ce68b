import type { CertificateSight } from '@spout/connector'
import type { Gateway } from '../../objects/gateway.ts'
import type { ListenerSet } from '../../objects/listener-set.ts'
import { GATEWAY_GROUP } from '../../objects/names.ts'
import type { ReferenceGrant } from '../../objects/reference-grant.ts'
import type { ObjectRef } from '../../objects/references.ts'
import { endsTls } from '../fields/ends-tls.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { isPermitted } from '../fields/references.ts'
import { clientAuthoritiesOf } from './client-certificates.ts'
import type { ResolveCertificate } from './listeners.ts'

/** The kind of the object that refers to a Secret. ReferenceGrants for one kind do not apply to the other. */
type Namer = 'Gateway' | 'ListenerSet'

export type CertificateOf = (secret: string) => CertificateSight

/** `namespace/name` of the Secret that a reference names, or why the reference is not allowed. */
export function secretOf(
  ref: ObjectRef,
  namespace: string,
  grants: readonly ReferenceGrant[],
  kind: Namer = 'Gateway',
): { readonly key: string } | { readonly unresolved: Objection } {
  if ((ref.group ?? '') !== '' || (ref.kind ?? 'Secret') !== 'Secret')
    return {
      unresolved: objection(
        'InvalidCertificateRef',
        `certificateRefs: ${ref.kind} is not a supported kind of certificates.`,
      ),
    }
  const from = { group: GATEWAY_GROUP, kind, namespace }
  const to = { group: '', kind: 'Secret', namespace: ref.namespace ?? namespace, name: ref.name }
  if (isPermitted(from, to, grants)) return { key: `${to.namespace}/${to.name}` }
  const message = `certificateRefs: no ReferenceGrant of namespace ${to.namespace} allows Secret ${to.name}.`
  return { unresolved: objection('RefNotPermitted', message) }
}

/** Whether a Gateway has settings for TLS, or a listener that ends it. */
export const hasTls = ({ spec }: Gateway): boolean => spec.tls !== undefined || (spec.listeners?.some(endsTls) ?? false)

/** Keys of the Secrets that listeners name and are allowed to name. No other Secrets are read. */
export function secretsOf(
  { metadata, spec }: Gateway | ListenerSet,
  grants: readonly ReferenceGrant[],
  kind: Namer = 'Gateway',
): ReadonlySet<string> {
  const refs = (spec.listeners ?? []).filter(endsTls).flatMap(({ tls }) => tls?.certificateRefs ?? [])
  return keysOf(refs.map((ref) => secretOf(ref, metadata.namespace ?? '', grants, kind)))
}

/**
 * Keys of the Secrets and ConfigMaps that `spec.tls` of a Gateway names and is allowed to name.
 * @param sets the ListenerSets that it allows
 */
export function ownSecretsOf(
  gateway: Gateway,
  sets: readonly ListenerSet[],
  grants: readonly ReferenceGrant[],
): ReadonlySet<string> {
  const forBackends = gateway.spec.tls?.backend?.clientCertificateRef
  const shown = forBackends && secretOf(forBackends, gateway.metadata.namespace ?? '', grants)
  const listeners = [gateway, ...sets].flatMap(({ spec }) => spec.listeners ?? [])
  return keysOf([...(shown ? [shown] : []), ...clientAuthoritiesOf(gateway, listeners, grants)])
}

const keysOf = (found: readonly (object | { readonly key: string })[]): ReadonlySet<string> =>
  new Set(found.flatMap((one) => ('key' in one ? [one.key] : [])))

/** The client certificate that a Gateway presents to backends which ask for one. */
export interface BackendCertificate {
  /** Null: it presents none. */
  readonly id: string | null
  readonly unresolved: Objection | null
}

/**
 * The client certificate for backends. Without it the Gateway is served all the same: only backends that require a
 * certificate refuse its connections.
 */
export function backendCertificateOf(
  gateway: Gateway,
  grants: readonly ReferenceGrant[],
  sightOf: (key: string) => CertificateSight,
): BackendCertificate {
  const ref = gateway.spec.tls?.backend?.clientCertificateRef
  if (ref === undefined) return { id: null, unresolved: null }
  const found = certificateResolver(gateway, grants, sightOf)(ref)
  if ('id' in found) return { id: found.id, unresolved: null }
  const { reason, message } = found.unresolved
  const own = reason === 'RefNotPermitted' ? reason : 'InvalidClientCertificateRef'
  return {
    id: null,
    unresolved: objection(own, message.replace(/^certificateRefs/, 'tls.backend.clientCertificateRef')),
  }
}

/**
 * A function that resolves the certificate references of an object.
 * @param sightOf the certificate of a Secret, by key
 */
export function certificateResolver(
  { metadata: { namespace = '' } }: Gateway | ListenerSet,
  grants: readonly ReferenceGrant[],
  sightOf: CertificateOf,
  kind: Namer = 'Gateway',
): (ref: ObjectRef) => ReturnType<ResolveCertificate> {
  return (ref) => {
    const found = secretOf(ref, namespace, grants, kind)
    if ('unresolved' in found) return found
    const sight = sightOf(found.key)
    if (sight.type === 'ready') return { id: sight.certificate.id, names: sight.certificate.names }
    const message = sight.type === 'refused' ? sight.refusal.message : 'It is being read.'
    return { unresolved: objection('InvalidCertificateRef', `certificateRefs: ${message}`) }
  }
}
