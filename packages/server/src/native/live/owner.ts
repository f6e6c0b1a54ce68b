import type { LoadBalancer, LoadBalancerOwner } from '@spout/model'

/** Connectors name each object of a load balancer by its UID; the value is `namespace/name`. */
const CLUSTER_OBJECT = /^kubernetes\.(service|ingress|gateway|load-balancer)\.[^.]+$/
const OCTAVIA = 'octavia.'

/** What made the load balancer, from its annotations. Null: they name nothing. */
export function ownerOf({ annotations }: Pick<LoadBalancer, 'annotations'>): LoadBalancerOwner | null {
  let isOfOctavia = false
  for (const key in annotations) {
    const kind = CLUSTER_OBJECT.exec(key)?.[1] as LoadBalancerOwner['kind'] | undefined
    if (kind !== undefined) return { kind, name: annotations[key] ?? null }
    isOfOctavia ||= key.startsWith(OCTAVIA)
  }
  return isOfOctavia ? { kind: 'octavia', name: null } : null
}
