import type { ConfigMap } from './config-map.ts'
import type { EndpointSlice } from './endpoint-slice.ts'
import type { Event } from './event.ts'
import type { Ingress, IngressClass } from './ingress.ts'
import type { Lease } from './lease.ts'
import type { Namespace } from './namespace.ts'
import type { Node } from './node.ts'
import type { KubeObject } from './object-meta.ts'
import type { Secret } from './secret.ts'
import type { Service } from './service.ts'

declare const shape: unique symbol

/** A kind of the API server. `T` is the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** `v1`, `apps/v1`, ... */
  readonly apiVersion: string
  readonly kind: string
  /** The name in paths. */
  readonly plural: string
  readonly namespaced: boolean
  readonly [shape]?: T
}

export const SERVICES: Resource<Service> = {
  apiVersion: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
}
export const CONFIG_MAPS: Resource<ConfigMap> = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
}
export const SECRETS: Resource<Secret> = {
  apiVersion: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
}
export const NODES: Resource<Node> = { apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }
export const NAMESPACES: Resource<Namespace> = {
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
}
export const ENDPOINT_SLICES: Resource<EndpointSlice> = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
}
export const INGRESSES: Resource<Ingress> = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  plural: 'ingresses',
  namespaced: true,
}
export const INGRESS_CLASSES: Resource<IngressClass> = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  namespaced: false,
}
export const EVENTS: Resource<Event> = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
}
export const LEASES: Resource<Lease> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
}

/** Names one object of a resource. `namespace` is left out for cluster-wide resources. */
export interface ObjectName {
  readonly namespace?: string
  readonly name: string
}

/** `namespace/name`, or only the name without a namespace: the key of reflectors and work queues. */
export const objectKey = ({ namespace, name }: ObjectName): string => (namespace ? `${namespace}/${name}` : name)

/** The path of a collection; of all namespaces when none is given. Names are escaped. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.apiVersion.includes('/') ? '/apis' : '/api'
  const scope = namespace === undefined || !resource.namespaced ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `${root}/${resource.apiVersion}${scope}/${resource.plural}`
}

/**
 * The path of an object.
 * @throws Error when a namespaced object has no namespace: the path would be another object's
 */
export function objectPath(resource: Resource, { namespace, name }: ObjectName, subresource?: 'status'): string {
  if (resource.namespaced && !namespace) throw new Error(`${resource.kind} ${name}: no namespace given`)
  // `.` and `..` would leave the collection.
  if (name === '' || name === '.' || name === '..') throw new Error(`${resource.kind}: "${name}" is not a name`)
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}
