import type { LoadBalancerOwner } from '@spout/model'
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

/** Such as `Service shop/web`. Null: nothing that its user does not know. */
export const ownerText = (owner: LoadBalancerOwner | null): string | null =>
  owner === null || owner.name === null ? null : `${OWNER_WORDS[owner.kind]} ${owner.name}`
