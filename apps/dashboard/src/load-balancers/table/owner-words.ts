import type { ClusterObject, LoadBalancerOwner } from '@spout/model'
import type { OwnerKind } from './table-search.ts'

/** What made a load balancer, in words. */
export const OWNER_WORDS: Readonly<Record<OwnerKind, string>> = {
  service: 'Service',
  ingress: 'Ingress',
  gateway: 'Gateway',
  'load-balancer': 'LoadBalancer object',
  octavia: 'Octavia API',
  api: 'Native API',
}

/** Such as `Service shop/web`. */
export const objectText = ({ kind, name }: Pick<ClusterObject, 'kind' | 'name'>): string =>
  `${OWNER_WORDS[kind]} ${name}`

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** A cluster in few letters: by default its id is a UUID, whose first digits tell it from others. */
export const shortCluster = (cluster: string): string => (UUID.test(cluster) ? cluster.slice(0, 8) : cluster)

/** Such as `Service shop/web in prod-1`. Null: nothing that its user does not know. */
export function ownerText(owner: LoadBalancerOwner | null, clusterText = shortCluster): string | null {
  if (owner === null || owner.kind === 'octavia' || owner.name === null) return null
  const object = objectText({ kind: owner.kind, name: owner.name })
  return owner.cluster === null ? object : `${object} in ${clusterText(owner.cluster)}`
}
