import type { OwnerKind } from '../content/owners.ts'
import type { TenantObject, TenantObjects } from './tenancy.ts'

/** The part of an intent's cluster that assigning objects to projects needs. */
export interface TenantCluster<Change> {
  readonly ready: boolean
  onChange(listener: (change: Change) => void): () => void
}

export interface TenantObjectsOptions<Change> {
  readonly kind: OwnerKind
  readonly cluster: TenantCluster<Change>
  /** Null when it does not exist, or is not ours to balance. @param key `namespace/name` */
  readonly get: (key: string) => TenantObject | null
  /** The keys of the objects whose assignment a change may affect. */
  readonly keysOf: (change: Change) => Iterable<string>
}

/** Adapts an intent's cluster to `TenantObjects`. */
export const tenantObjects = <Change>({ kind, cluster, get, keysOf }: TenantObjectsOptions<Change>): TenantObjects => ({
  kind,
  get,
  get ready() {
    return cluster.ready
  },
  onChange: (listener) =>
    cluster.onChange((change) => {
      for (const key of keysOf(change)) listener(key)
    }),
})
