import { backendPort, type TargetPort } from '@spout/connector'
import type { Service } from '@spout/kube'
import { GATEWAY_GROUP } from '../names.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import type { BackendRef } from '../objects/references.ts'
import { isPermitted } from './references.ts'
import { type Objection, objection } from './verdict.ts'

/** A port of a Service that a rule sends to. */
export interface Backend {
  /** `namespace/name`. */
  readonly service: string
  readonly port: TargetPort
}

/** What references are resolved with. */
export interface BackendSurroundings {
  readonly service: (key: string) => Service | undefined
  readonly grants: readonly ReferenceGrant[]
}

/** Names the pool of a backend in its load balancer. */
export const poolNameOf = ({ service, port }: Backend): string => `${service}:${port.port}`

/** Protocols of an application that the proxy does not speak to members. */
const OTHER_PROTOCOLS: ReadonlySet<string> = new Set(['kubernetes.io/h2c', 'kubernetes.io/wss', 'https', 'grpc'])

/** `namespace/name` of the Service that a reference names; null when it names something else. */
export const serviceKeyOf = (ref: BackendRef, namespace: string): string | null =>
  (ref.group ?? '') === '' && (ref.kind ?? 'Service') === 'Service' ? `${ref.namespace ?? namespace}/${ref.name}` : null

/** @param from kind and namespace of the route */
export function resolveBackend(
  ref: BackendRef,
  from: { readonly kind: string; readonly namespace: string },
  { service, grants }: BackendSurroundings,
): Backend | { readonly unresolved: Objection } {
  const refuse = (reason: string, message: string) => ({ unresolved: objection(reason, message) })
  const key = serviceKeyOf(ref, from.namespace)
  if (key === null) return refuse('InvalidKind', `backendRef: ${ref.kind} of group "${ref.group}" is no backend here.`)
  const namespace = ref.namespace ?? from.namespace
  const referred = { group: '', kind: 'Service', namespace, name: ref.name }
  if (!isPermitted({ group: GATEWAY_GROUP, ...from }, referred, grants))
    return refuse(
      'RefNotPermitted',
      `backendRef: no ReferenceGrant of namespace ${namespace} allows Service ${ref.name}.`,
    )
  const found = service(key)
  const target = backendPort(found, key, ref.port === undefined ? {} : { number: ref.port }, 'backendRef')
  if ('refusal' in target) return refuse('BackendNotFound', `backendRef: ${target.refusal.message}`)
  const { appProtocol = '' } = found?.spec.ports?.find(({ port }) => port === target.value.port) ?? {}
  if (OTHER_PROTOCOLS.has(appProtocol))
    return refuse('UnsupportedProtocol', `backendRef: port ${ref.port} of Service ${key} has protocol ${appProtocol}.`)
  return { service: key, port: target.value }
}
