import { clusterObjects, type LoadBalancer, type LoadBalancerOwner } from '@spout/model'

const OCTAVIA = 'octavia.'

/** What made the load balancer, from its annotations. Null: they name nothing. */
export function ownerOf({ annotations }: Pick<LoadBalancer, 'annotations'>): LoadBalancerOwner | null {
  const [first] = clusterObjects(annotations)
  if (first !== undefined) return first
  const isOfOctavia = Object.keys(annotations).some((key) => key.startsWith(OCTAVIA))
  return isOfOctavia ? { kind: 'octavia', name: null, cluster: null } : null
}
