import type { OwnerKind } from '../content/owners.ts'
import type { TenantObject, TenantObjects } from './tenancy.ts'

/** What an intent knows of a cluster, as far as assigning its objects to projects needs it. */
export interface TenantCluster<Change> {
  readonly ready: boolean
  onChange(listener: (change: Change) => void): () => void
}

export interface TenantObjectsOptions<Change> {
  readonly kind: OwnerKind
  readonly cluster: TenantCluster<Change>
  /** Null when it does not exist, or is not ours to balance. @param key `namespace/name` */
  readonly get: (key: string) => TenantObject | null
  /** Keys of the objects that a change may assign anew. */
  readonly keysOf: (change: Change) => Iterable<string>
}

/** The objects of one kind in an intent's cluster, for tenancy to assign to projects. */
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
