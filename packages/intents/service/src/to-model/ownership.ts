import { MANAGED_BY } from '@spout/connector'
import type { Service } from '@spout/kube'

/** Which Services are this controller's. */
export interface OwnershipSettings {
  /** `spec.loadBalancerClass` that asks for it. */
  readonly className: string
  /** Whether Services without a class are its too. */
  readonly isDefault: boolean
  /** Namespaces it looks at; null for all. */
  readonly namespaces: readonly string[] | null
}

/**
 * `ours`: balance it. `deleting`: ours, and somebody asked to delete it. `released`: it was ours (so says the mark), and
 * its type was changed away or nobody's class is left: clean up after it. `foreign`: never write it.
 */
export type Ownership = 'ours' | 'deleting' | 'released' | 'foreign'

export function ownershipOf(service: Service, settings: OwnershipSettings): Ownership {
  const { metadata, spec } = service
  if (settings.namespaces !== null && !settings.namespaces.includes(metadata.namespace ?? '')) return 'foreign'
  const marked = metadata.annotations?.[MANAGED_BY] === settings.className
  if (spec?.type !== 'LoadBalancer') return marked ? 'released' : 'foreign'
  const name = spec.loadBalancerClass
  const wanted = name === undefined || name === '' ? settings.isDefault : name === settings.className
  // Another class's Service is not written even when it carries our mark: whoever it belongs to now uses the same finalizer.
  if (!wanted) return marked && (name === undefined || name === '') ? 'released' : 'foreign'
  return metadata.deletionTimestamp === undefined ? 'ours' : 'deleting'
}
