import { ALL_DNS_ANNOTATIONS, MANAGED_BY, PROJECT, picked } from '@spout/connector'
import type { KubeObject, Reflector } from '@spout/kube'

/**
 * The object with its newest `resourceVersion`, which `trimmed` leaves out: it changes with every write, also when no
 * kept field changes. Writes of statuses need it.
 */
export function versioned<T extends KubeObject>(reflector: Reflector<T, T>, key: string): T | undefined {
  const object = reflector.get(key)
  const resourceVersion = reflector.identity(key)?.resourceVersion
  if (object === undefined || resourceVersion === undefined) return undefined
  return { ...object, metadata: { ...object.metadata, resourceVersion } }
}

const KEPT = ['name', 'namespace', 'uid', 'generation', 'creationTimestamp', 'deletionTimestamp', 'finalizers'] as const

/** The object without labels, managed fields, and most annotations. */
export function trimmed<T extends KubeObject & { readonly spec: unknown; readonly status?: unknown }>(object: T): T {
  const { metadata, spec, status } = object
  const mark = picked(metadata.annotations, [MANAGED_BY, PROJECT, ...ALL_DNS_ANNOTATIONS])
  return {
    metadata: { ...picked(metadata, KEPT), ...(Object.keys(mark).length === 0 ? {} : { annotations: mark }) },
    spec: structuredClone(spec),
    ...(status === undefined ? {} : { status: structuredClone(status) }),
  } as T
}
