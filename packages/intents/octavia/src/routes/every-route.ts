import { amphoraRoutes } from './amphorae.ts'
import { catalogueRoutes } from './catalogue.ts'
import { monitorRoutes } from './health-monitors.ts'
import { policyRoutes } from './l7policies.ts'
import { listenerRoutes } from './listeners.ts'
import { loadBalancerRoutes } from './load-balancers.ts'
import { memberRoutes } from './members.ts'
import { allOfferRoutes } from './offers.ts'
import { poolRoutes } from './pools.ts'
import { allProfileRoutes } from './profiles.ts'
import { quotaRoutes } from './quotas.ts'
import type { Route } from './route.ts'

/** Routes below `/lbaas`. */
export const LBAAS_ROUTES: readonly Route[] = [
  ...loadBalancerRoutes,
  ...listenerRoutes,
  ...poolRoutes,
  ...memberRoutes,
  ...monitorRoutes,
  ...quotaRoutes,
  ...policyRoutes,
  ...catalogueRoutes,
  ...allOfferRoutes,
  ...allProfileRoutes,
]

/** Routes below `/octavia`. */
export const OCTAVIA_ROUTES: readonly Route[] = amphoraRoutes
