import type { CertificateSight } from '@spout/connector'
import { GATEWAY_GROUP } from '../names.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import type { ObjectRef } from '../objects/references.ts'
import { clientAuthoritiesOf } from './client-certificates.ts'
import { endsTls } from './ends-tls.ts'
import type { ResolveCertificate } from './listeners.ts'
import { isPermitted } from './references.ts'
import { type Objection, objection } from './verdict.ts'

/** `namespace/name` of the Secret that a listener's reference names, if it may name it. */
export function secretOf(
  ref: ObjectRef,
  namespace: string,
  grants: readonly ReferenceGrant[],
): { readonly key: string } | { readonly unresolved: Objection } {
  if ((ref.group ?? '') !== '' || (ref.kind ?? 'Secret') !== 'Secret')
    return {
      unresolved: objection('InvalidCertificateRef', `certificateRefs: ${ref.kind} is no kind of certificates.`),
    }
  const from = { group: GATEWAY_GROUP, kind: 'Gateway', namespace }
  const to = { group: '', kind: 'Secret', namespace: ref.namespace ?? namespace, name: ref.name }
  if (isPermitted(from, to, grants)) return { key: `${to.namespace}/${to.name}` }
  const message = `certificateRefs: no ReferenceGrant of namespace ${to.namespace} allows Secret ${to.name}.`
  return { unresolved: objection('RefNotPermitted', message) }
}

/** Whether it has certificates of its own, or asks clients for some. */
export const hasTls = ({ spec }: Gateway): boolean => spec.tls !== undefined || (spec.listeners?.some(endsTls) ?? false)

/** Keys of the Secrets and ConfigMaps that a Gateway names and may name; no others are read. */
export function secretsOf(gateway: Gateway, grants: readonly ReferenceGrant[]): ReadonlySet<string> {
  const { metadata, spec } = gateway
  const shown = (spec.listeners ?? []).filter(endsTls).flatMap(({ tls }) => tls?.certificateRefs ?? [])
  const forBackends = spec.tls?.backend?.clientCertificateRef
  const secrets = [...shown, ...(forBackends === undefined ? [] : [forBackends])].map((ref) =>
    secretOf(ref, metadata.namespace ?? '', grants),
  )
  return new Set(
    [...secrets, ...clientAuthoritiesOf(gateway, grants)].flatMap((one) => ('key' in one ? [one.key] : [])),
  )
}

/** What a Gateway shows to backends that ask for a certificate. */
export interface BackendCertificate {
  /** Null: none. */
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

/** @param sightOf of a Secret that the Gateway names */
export function certificateResolver(
  { metadata: { namespace = '' } }: Gateway,
  grants: readonly ReferenceGrant[],
  sightOf: (key: string) => CertificateSight,
): ResolveCertificate {
  return (ref) => {
    const found = secretOf(ref, namespace, grants)
    if ('unresolved' in found) return found
    const sight = sightOf(found.key)
    if (sight.type === 'ready') return { id: sight.certificate.id }
    const message = sight.type === 'refused' ? sight.refusal.message : 'It is being read.'
    return { unresolved: objection('InvalidCertificateRef', `certificateRefs: ${message}`) }
  }
}
