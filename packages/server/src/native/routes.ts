import { vipRoutes } from './explain/vips.ts'
import { figureRoutes } from './load-balancers/figures.ts'
import { listenerRouteRoutes } from './load-balancers/listener-routes.ts'
import { loadBalancerBatchRoutes } from './load-balancers/load-balancer-batch.ts'
import { loadBalancerMemberRoutes } from './load-balancers/load-balancer-members.ts'
import { loadBalancerPartRoutes } from './load-balancers/load-balancer-parts.ts'
import { loadBalancerRoutes } from './load-balancers/load-balancers.ts'
import { memberChangeRoutes } from './load-balancers/member-changes.ts'
import { routeChangeRoutes } from './load-balancers/route-changes.ts'
import { withdrawalRoutes } from './load-balancers/withdrawal.ts'
import { networkRoutes } from './networks/networks.ts'
import { poolUsageRoutes } from './networks/pool-usage.ts'
import { bgpRoutes } from './nodes/bgp.ts'
import { controlPlaneRoutes } from './nodes/control-plane.ts'
import { loadBalancerClassRoutes } from './nodes/load-balancer-classes.ts'
import { nodeRoutes } from './nodes/nodes.ts'
import { rebalanceRoutes } from './nodes/rebalance.ts'
import type { Route } from './operations/route.ts'
import { overviewRoutes } from './overview/overview.ts'
import { applicationCredentialRoutes } from './projects/application-credentials.ts'
import { auditRoutes } from './projects/audit.ts'
import { certificateRoutes } from './projects/certificates.ts'
import { domainClaimRoutes } from './projects/domain-claims.ts'
import { projectRoutes } from './projects/projects.ts'
import { sessionRoutes } from './projects/session.ts'
import { tokenRoutes } from './projects/tokens.ts'

/** Every operation of the native API. The server and the API document are made from this list. */
export const ROUTES: readonly Route[] = [
  ...tokenRoutes,
  ...sessionRoutes,
  ...loadBalancerRoutes,
  ...loadBalancerBatchRoutes,
  ...memberChangeRoutes,
  ...loadBalancerPartRoutes,
  ...listenerRouteRoutes,
  ...routeChangeRoutes,
  ...loadBalancerMemberRoutes,
  ...figureRoutes,
  ...withdrawalRoutes,
  ...networkRoutes,
  ...poolUsageRoutes,
  ...loadBalancerClassRoutes,
  ...nodeRoutes,
  ...controlPlaneRoutes,
  ...rebalanceRoutes,
  ...bgpRoutes,
  ...certificateRoutes,
  ...vipRoutes,
  ...projectRoutes,
  ...applicationCredentialRoutes,
  ...domainClaimRoutes,
  ...auditRoutes,
  ...overviewRoutes,
]
