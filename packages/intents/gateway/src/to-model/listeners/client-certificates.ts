import { type CertificateSight, configMapKey } from '@spout/connector'
import type { ListenerTls } from '@spout/model'
import type { ClientValidation, Gateway, GatewayListener } from '../../objects/gateway.ts'
import { GATEWAY_GROUP } from '../../objects/names.ts'
import type { ReferenceGrant } from '../../objects/reference-grant.ts'
import type { ObjectRef } from '../../objects/references.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { isPermitted } from '../fields/references.ts'

/** How a listener validates certificates of clients. */
export interface JudgedValidation {
  readonly clientCertificates: ListenerTls['clientCertificates']
  readonly refused: Objection | null
  readonly unresolved: Objection | null
}

/** Null: clients of the listener are not asked for a certificate. */
export type ValidateClients = (listener: GatewayListener) => JudgedValidation | null

const MODES = {
  AllowValidOnly: { required: true },
  AllowInsecureFallback: { required: false, acceptInvalid: true },
} as const

/**
 * Whether one of these listeners of a Gateway or its ListenerSets admits clients without a valid certificate although
 * it asks for one.
 */
export const isInsecure = (gateway: Gateway, listeners: readonly GatewayListener[]): boolean =>
  listeners.some((listener) => validationOf(gateway, listener)?.mode === 'AllowInsecureFallback')

/**
 * The settings for a listener: those of its port, else the default. As the API requires, only HTTPS listeners have any.
 */
function validationOf({ spec }: Gateway, { protocol, port }: GatewayListener): ClientValidation | null {
  const { frontend } = spec.tls ?? {}
  if (frontend === undefined || protocol !== 'HTTPS') return null
  const own = frontend.perPort?.find((one) => one.port === port)
  return (own?.tls ?? frontend.default).validation ?? null
}

type FoundAuthorities = { readonly key: string } | { readonly unresolved: Objection }

/** The key of the ConfigMap that a reference names, or why the reference is not allowed. */
function authorityOf(ref: ObjectRef, namespace: string, grants: readonly ReferenceGrant[]): FoundAuthorities {
  if ((ref.group ?? '') !== '' || ref.kind !== 'ConfigMap')
    return {
      unresolved: objection(
        'InvalidCACertificateKind',
        `${FIELD}: ${ref.kind} is not a supported kind of authorities.`,
      ),
    }
  const from = { group: GATEWAY_GROUP, kind: 'Gateway', namespace }
  const to = { group: '', kind: 'ConfigMap', namespace: ref.namespace ?? namespace, name: ref.name }
  if (isPermitted(from, to, grants)) return { key: configMapKey(`${to.namespace}/${to.name}`) }
  const message = `${FIELD}: no ReferenceGrant of namespace ${to.namespace} allows ConfigMap ${to.name}.`
  return { unresolved: objection('RefNotPermitted', message) }
}

const FIELD = 'tls.frontend: caCertificateRefs'

/**
 * The ConfigMaps with the authorities of client certificates for these listeners: the key of each, or why the Gateway
 * may not name it.
 * @param listeners the Gateway's own and those of its ListenerSets
 */
export const clientAuthoritiesOf = (
  gateway: Gateway,
  listeners: readonly GatewayListener[],
  grants: readonly ReferenceGrant[],
): readonly FoundAuthorities[] =>
  listeners
    .flatMap((listener) => validationOf(gateway, listener)?.caCertificateRefs ?? [])
    .map((ref) => authorityOf(ref, gateway.metadata.namespace ?? '', grants))

/**
 * A function that gives the validation of client certificates for a listener. A listener without usable authorities is
 * not served: it could only admit every client or none.
 * @param sightOf the authorities of a ConfigMap, by key
 */
export function clientValidation(
  gateway: Gateway,
  grants: readonly ReferenceGrant[],
  sightOf: (key: string) => CertificateSight,
): ValidateClients {
  return (listener) => {
    const validation = validationOf(gateway, listener)
    if (validation === null) return null
    const [first, second] = validation.caCertificateRefs
    const none = (unresolved: Objection): JudgedValidation => ({
      ...{ clientCertificates: null, unresolved },
      refused: objection('NoValidCACertificate', unresolved.message),
    })
    if (first === undefined || second !== undefined)
      return none(objection('InvalidCACertificateRef', `${FIELD}: must name exactly one ConfigMap.`))
    const found = authorityOf(first, gateway.metadata.namespace ?? '', grants)
    if ('unresolved' in found) return none(found.unresolved)
    const sight = sightOf(found.key)
    // A notice means that the ConfigMap is no longer valid. Clients are not verified with its previous content.
    if (sight.type === 'ready' && sight.notice === null)
      return {
        clientCertificates: { caCertificateId: sight.certificate.id, ...MODES[validation.mode ?? 'AllowValidOnly'] },
        refused: null,
        unresolved: null,
      }
    const problem = sight.type === 'refused' ? sight.refusal : sight.type === 'ready' ? sight.notice : null
    return none(objection('InvalidCACertificateRef', `${FIELD}: ${problem?.message ?? 'It is being read.'}`))
  }
}
