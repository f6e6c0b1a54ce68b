import type { CertificateSight } from '@spout/connector'
import { GATEWAY_GROUP } from '../names.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import type { ObjectRef } from '../objects/references.ts'
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

/** Whether one of its listeners ends TLS. */
export const hasTls = ({ spec }: Gateway): boolean => spec.listeners?.some(endsTls) ?? false

/** The Secrets that a Gateway names and may name; no others are read. */
export function secretsOf({ metadata, spec }: Gateway, grants: readonly ReferenceGrant[]): ReadonlySet<string> {
  const refs = (spec.listeners ?? []).filter(endsTls).flatMap(({ tls }) => tls?.certificateRefs ?? [])
  return new Set(
    refs.flatMap((ref) => {
      const found = secretOf(ref, metadata.namespace ?? '', grants)
      return 'key' in found ? [found.key] : []
    }),
  )
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
