import { auditRoutes } from './audit.ts'
import { bgpRoutes } from './bgp.ts'
import { certificateRoutes } from './certificates.ts'
import { domainClaimRoutes } from './domain-claims.ts'
import { listenerRouteRoutes } from './listener-routes.ts'
import { loadBalancerBatchRoutes } from './load-balancer-batch.ts'
import { loadBalancerClassRoutes } from './load-balancer-classes.ts'
import { loadBalancerMemberRoutes } from './load-balancer-members.ts'
import { loadBalancerPartRoutes } from './load-balancer-parts.ts'
import { loadBalancerRoutes } from './load-balancers.ts'
import { memberChangeRoutes } from './member-changes.ts'
import { networkRoutes } from './networks.ts'
import { nodeRoutes } from './nodes.ts'
import { projectRoutes } from './projects.ts'
import { rebalanceRoutes } from './rebalance.ts'
import type { Route } from './route.ts'
import { routeChangeRoutes } from './route-changes.ts'
import { tokenRoutes } from './tokens.ts'
import { vipRoutes } from './vips.ts'
import { withdrawalRoutes } from './withdrawal.ts'

/** Every operation of the native API. The server and the API document are made from this list. */
export const ROUTES: readonly Route[] = [
  ...tokenRoutes,
  ...loadBalancerRoutes,
  ...loadBalancerBatchRoutes,
  ...memberChangeRoutes,
  ...loadBalancerPartRoutes,
  ...listenerRouteRoutes,
  ...routeChangeRoutes,
  ...loadBalancerMemberRoutes,
  ...withdrawalRoutes,
  ...networkRoutes,
  ...loadBalancerClassRoutes,
  ...nodeRoutes,
  ...rebalanceRoutes,
  ...bgpRoutes,
  ...certificateRoutes,
  ...vipRoutes,
  ...projectRoutes,
  ...domainClaimRoutes,
  ...auditRoutes,
]
