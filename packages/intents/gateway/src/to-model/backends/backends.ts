import { backendPort, type PoolContent, type TargetPort } from '@spout/connector'
import type { Service } from '@spout/kube'
import { GATEWAY_GROUP } from '../../objects/names.ts'
import type { ReferenceGrant } from '../../objects/reference-grant.ts'
import type { BackendRef } from '../../objects/references.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { isPermitted } from '../fields/references.ts'
import type { BackendTls } from './backend-tls.ts'

/** A port of a Service that a rule sends to. */
export interface Backend {
  /** `namespace/name`. */
  readonly service: string
  readonly port: TargetPort
  /** Protocol of the pool. */
  readonly protocol: PoolContent['protocol']
  /** Its endpoints speak HTTP/2. Absent: HTTP/1.1. */
  readonly http2?: true
  /** The TLS settings for its endpoints. Null: they cannot be verified, so they get no request. Absent: no TLS. */
  readonly tls?: BackendTls | null
}

/** The facts by which references are resolved. */
export interface BackendSurroundings {
  readonly service: (key: string) => Service | undefined
  readonly grants: readonly ReferenceGrant[]
  /** The TLS settings for a Service's port, as in `Backend.tls`; undefined for no TLS. Left out: no port has TLS. */
  readonly tlsOf?: (service: string, portName: string) => BackendTls | null | undefined
}

/** The name of a backend's pool, unique in its load balancer. */
export const poolNameOf = ({ service, port, protocol, http2, tls }: Backend): string => {
  const [before, spoken] = [protocol === 'http' ? '' : `${protocol}/`, tls === undefined ? '' : '/tls']
  return `${before}${service}:${port.port}${spoken}${http2 ? '/h2' : ''}`
}

/** How a kind of routes speaks to its backends. */
export interface BackendProtocol {
  /** Transport of the Service's port. */
  readonly transport: 'TCP' | 'UDP'
  /** Protocol of the pools. */
  readonly pool: PoolContent['protocol']
  /** Values of `appProtocol` that routes of this kind cannot send to. */
  readonly unsupportedAppProtocols: ReadonlySet<string>
  /** Whether members of a port with this `appProtocol` (empty: none) speak HTTP/2. Absent: none do. */
  readonly isHttp2?: (appProtocol: string) => boolean
}

/** The route that refers to a backend. */
export interface BackendReferrer {
  readonly kind: string
  readonly namespace: string
  readonly protocol: BackendProtocol
}

/** `namespace/name` of the Service that a reference names; null when it names something else. */
export const serviceKeyOf = (ref: BackendRef, namespace: string): string | null =>
  (ref.group ?? '') === '' && (ref.kind ?? 'Service') === 'Service' ? `${ref.namespace ?? namespace}/${ref.name}` : null

/** Finds the backend that a reference names, or says why it does not resolve. */
export function resolveBackend(
  ref: BackendRef,
  { kind, namespace: own, protocol: { transport, unsupportedAppProtocols, pool, isHttp2 } }: BackendReferrer,
  { service, grants, tlsOf }: BackendSurroundings,
): Backend | { readonly unresolved: Objection } {
  const refuse = (reason: string, message: string) => ({ unresolved: objection(reason, message) })
  const key = serviceKeyOf(ref, own)
  if (key === null)
    return refuse('InvalidKind', `backendRef: ${ref.kind} of group "${ref.group}" is not a supported backend.`)
  const namespace = ref.namespace ?? own
  const referred = { group: '', kind: 'Service', namespace, name: ref.name }
  if (!isPermitted({ group: GATEWAY_GROUP, kind, namespace: own }, referred, grants))
    return refuse(
      'RefNotPermitted',
      `backendRef: no ReferenceGrant of namespace ${namespace} allows Service ${ref.name}.`,
    )
  const found = service(key)
  const target = backendPort(
    found,
    key,
    { transport, ...(ref.port !== undefined && { number: ref.port }) },
    'backendRef',
  )
  if ('refusal' in target) return refuse('BackendNotFound', `backendRef: ${target.refusal.message}`)
  const { appProtocol = '' } =
    found?.spec.ports?.find(({ port, protocol = 'TCP' }) => port === target.value.port && protocol === transport) ?? {}
  const tls = pool === 'http' ? tlsOf?.(key, target.value.name) : undefined
  if (tls === undefined && unsupportedAppProtocols.has(appProtocol))
    return refuse('UnsupportedProtocol', `backendRef: port ${ref.port} of Service ${key} has protocol ${appProtocol}.`)
  return {
    service: key,
    port: target.value,
    protocol: pool,
    ...(isHttp2?.(appProtocol) && { http2: true }),
    ...(tls !== undefined && { tls }),
  }
}
