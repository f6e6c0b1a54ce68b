import { MANAGED_BY, namedClass } from '@spout/connector'
import type { Service } from '@spout/kube'
import { ANNOTATIONS } from '../names.ts'

/** Which Services this controller balances. */
export interface OwnershipSettings {
  /** Our value of `spec.loadBalancerClass`. Other names in its domain choose a load balancer class (`namedClass`). */
  readonly className: string
  /** Whether it also balances Services without a class. Otherwise each may ask for it by an annotation. */
  readonly isDefault: boolean
  /** Namespaces that it watches; null for all. */
  readonly namespaces: readonly string[] | null
}

/**
 * `ours`: balance it. `deleting`: ours, and being deleted. `released`: it was ours (it has our mark), but its type was
 * changed, or it has no class and that is not ours: clean up. `foreign`: never write it.
 */
export type Ownership = 'ours' | 'deleting' | 'released' | 'foreign'

export function ownershipOf(service: Service, settings: OwnershipSettings): Ownership {
  const { metadata, spec } = service
  if (settings.namespaces !== null && !settings.namespaces.includes(metadata.namespace ?? '')) return 'foreign'
  const marked = metadata.annotations?.[MANAGED_BY] === settings.className
  if (spec?.type !== 'LoadBalancer') return marked ? 'released' : 'foreign'
  const name = spec.loadBalancerClass
  const wanted = name === undefined || name === '' ? settings.isDefault || asksForUs(service) : isOurs(name, settings)
  // A Service of another class is not written, even with our mark: its present controller uses the same finalizer.
  if (!wanted) return marked && (name === undefined || name === '') ? 'released' : 'foreign'
  return metadata.deletionTimestamp === undefined ? 'ours' : 'deleting'
}

/** Whoever may write it may name our class in a new Service as well. */
export const asksForUs = ({ metadata }: Service): boolean =>
  ANNOTATIONS.takeOver.some((name) => metadata.annotations?.[name] === 'true')

const isOurs = (name: string, { className }: OwnershipSettings): boolean =>
  name === className || namedClass(name, className) !== undefined
