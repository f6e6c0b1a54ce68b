import { type CertificateSight, configMapKey, keyOf } from '@spout/connector'
import { hostText } from '@spout/model'
import type { BackendTlsPolicyObject, PolicyTarget } from '../../objects/backend-tls-policy.ts'
import { type Objection, objection } from '../fields/objection.ts'

/** The TLS settings for connections to the endpoints of a backend. */
export interface BackendTls {
  readonly caCertificateId: string
  /** The name for SNI and for verification of the certificate, in lower case. */
  readonly serverName: string
  /** The client certificate of the Gateway; absent: it presents none. */
  readonly clientCertificateId?: string
}

/** The outcome of checking a policy, for its conditions and its backends. */
export interface JudgedPolicy {
  readonly refused: Objection | null
  readonly unresolved: Objection | null
  /** Null when endpoints cannot be verified. Then no request is sent to them. */
  readonly tls: BackendTls | null
}

export type CertificateOf = (key: string) => CertificateSight

/** `namespace/name` of the Services that a policy targets. */
export const servicesOfPolicy = ({ metadata, spec }: BackendTlsPolicyObject): readonly string[] => [
  ...new Set(spec.targetRefs.filter(isService).map(({ name }) => `${metadata.namespace}/${name}`)),
]

const isService = ({ group, kind }: PolicyTarget): boolean => group === '' && kind === 'Service'

/** Keys of the ConfigMaps that a policy names, as `TlsCertificates` follows them. */
export const authoritiesOfPolicy = ({ metadata, spec }: BackendTlsPolicyObject): ReadonlySet<string> =>
  new Set(
    (spec.validation.caCertificateRefs ?? [])
      .filter(({ group = '', kind }) => group === '' && kind === 'ConfigMap')
      .map(({ name }) => configMapKey(`${metadata.namespace}/${name}`)),
  )

/**
 * The policy that applies to a port of a Service; null for none. A policy that names the port takes precedence over one
 * that does not, then the older one, then the first by name.
 * @param policies the policies that target the Service
 */
export function policyOfPort(
  policies: readonly BackendTlsPolicyObject[],
  service: string,
  portName: string,
): BackendTlsPolicyObject | null {
  const targeting = (section: string | undefined) =>
    policies.filter((policy) => targetsOf(policy, service).some(({ sectionName }) => sectionName === section))
  const [first] = [...targeting(portName).toSorted(byAge), ...targeting(undefined).toSorted(byAge)]
  return first ?? null
}

const targetsOf = ({ metadata, spec }: BackendTlsPolicyObject, service: string): readonly PolicyTarget[] =>
  spec.targetRefs.filter((target) => isService(target) && `${metadata.namespace}/${target.name}` === service)

/** Checks a policy. @param others all policies that target one of its Services; it may be among them */
export function judgePolicy(
  policy: BackendTlsPolicyObject,
  others: readonly BackendTlsPolicyObject[],
  certificateOf: CertificateOf,
): JudgedPolicy {
  const trust = trustOf(policy, certificateOf)
  const refused = conflictOf(policy, others) ?? invalidOf(policy) ?? trust.refused
  return { refused, unresolved: trust.unresolved, tls: refused === null ? trust.tls : null }
}

/** Two policies must not have the same target: the older one wins. */
function conflictOf(policy: BackendTlsPolicyObject, others: readonly BackendTlsPolicyObject[]): Objection | null {
  const isSame = (a: PolicyTarget, b: PolicyTarget) =>
    a.group === b.group && a.kind === b.kind && a.name === b.name && a.sectionName === b.sectionName
  const winner = others.find(
    (other) =>
      keyOf(other) !== keyOf(policy) &&
      byAge(other, policy) < 0 &&
      other.spec.targetRefs.some((one) => policy.spec.targetRefs.some((own) => isSame(one, own))),
  )
  if (winner === undefined) return null
  return objection('Conflicted', `targetRefs: the older policy ${keyOf(winner)} has the same target.`)
}

function invalidOf({ spec: { validation } }: BackendTlsPolicyObject): Objection | null {
  const { wellKnownCACertificates, subjectAltNames = [], hostname } = validation
  // The schema of the kind requires it as well. If a cluster's schema does not, a bad name must not make the control
  // plane refuse the whole Gateway.
  if (!hostText.safeParse(hostname.toLowerCase()).success)
    return objection('Invalid', 'validation.hostname: is not a host name.')
  if (wellKnownCACertificates !== undefined && wellKnownCACertificates !== '')
    return objection('Invalid', 'validation.wellKnownCACertificates: is not supported; use caCertificateRefs.')
  // HAProxy verifies a member's certificate against the SNI name only.
  const other = subjectAltNames.find((one) => one.type !== 'Hostname' || one.hostname !== hostname)
  if (other === undefined) return null
  return objection('Invalid', 'validation.subjectAltNames: only the name in validation.hostname can be verified.')
}

function trustOf(
  { metadata, spec: { validation } }: BackendTlsPolicyObject,
  certificateOf: CertificateOf,
): JudgedPolicy {
  const refs = validation.caCertificateRefs ?? []
  const none = (unresolved: Objection | null): JudgedPolicy => ({
    refused: refs.length === 0 ? null : objection('NoValidCACertificate', unresolved?.message ?? ''),
    unresolved,
    tls: null,
  })
  const [first] = refs
  if (first === undefined) return none(null)
  if (refs.length > 1)
    return none(objection('InvalidCACertificateRef', 'validation.caCertificateRefs: must name exactly one ConfigMap.'))
  if ((first.group ?? '') !== '' || first.kind !== 'ConfigMap')
    return none(
      objection('InvalidKind', `validation.caCertificateRefs: ${first.kind} is not a supported kind of authorities.`),
    )
  const sight = certificateOf(configMapKey(`${metadata.namespace}/${first.name}`))
  if (sight.type === 'ready' && sight.notice === null)
    return {
      refused: null,
      unresolved: null,
      tls: { caCertificateId: sight.certificate.id, serverName: validation.hostname.toLowerCase() },
    }
  // A notice means that the ConfigMap is no longer valid. Endpoints are not verified with its previous content.
  const problem = sight.type === 'refused' ? sight.refusal : sight.type === 'ready' ? sight.notice : null
  const message = problem?.message ?? 'It is being read.'
  return none(objection('InvalidCACertificateRef', `validation.caCertificateRefs: ${message}`))
}

function byAge(a: BackendTlsPolicyObject, b: BackendTlsPolicyObject): number {
  const [before, after] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? '') as [string, string]
  return compare(before, after) || compare(keyOf(a), keyOf(b))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
