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

/** The kind of what has listeners: a grant for one is none for the other. */
type Namer = 'Gateway' | 'ListenerSet'

export type CertificateOf = (secret: string) => CertificateSight

/** `namespace/name` of the Secret that a listener's reference names, if it may name it. */
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

/** Whether it has certificates of its own, or asks clients for some. */
export const hasTls = ({ spec }: Gateway): boolean => spec.tls !== undefined || (spec.listeners?.some(endsTls) ?? false)

/** Keys of the Secrets that listeners name and may name; no others are read. */
export function secretsOf(
  { metadata, spec }: Gateway | ListenerSet,
  grants: readonly ReferenceGrant[],
  kind: Namer = 'Gateway',
): ReadonlySet<string> {
  const refs = (spec.listeners ?? []).filter(endsTls).flatMap(({ tls }) => tls?.certificateRefs ?? [])
  return keysOf(refs.map((ref) => secretOf(ref, metadata.namespace ?? '', grants, kind)))
}

/**
 * Keys of the Secrets and ConfigMaps that a Gateway as a whole names and may name.
 * @param sets whose listeners it takes
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

/** Backends that insist on a certificate refuse a Gateway whose own cannot be had. */
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

/** @param sightOf of a Secret that a listener names */
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
