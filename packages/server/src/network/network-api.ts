import { refuseBalancer } from '../authn/balancer.ts'
import { OPENSTACK_BODY_LIMIT_BYTES, type Surface } from '../http/host.ts'
import { sendListsInPieces } from '../http/list-answer.ts'
import { shareOf } from '../turns/share-of.ts'
import type { NetworkContext } from './context.ts'
import { answerLikeNeutron } from './errors.ts'
import { fixedRoutes } from './fixed-routes.ts'
import { floatingIpRoutes } from './floating-ip-routes.ts'
import { networkRoutes } from './network-routes.ts'
import { portRoutes } from './port-routes.ts'
import { securityGroupRoutes } from './security-groups.ts'
import { subnetRoutes } from './subnet-routes.ts'
import { tagRoutes } from './tag-routes.ts'

/** A Neutron v2 facade over our networks and addresses, as far as unmodified load-balancer clients need it. */
export const networkApi = (given: NetworkContext): Surface => ({
  prefix: '/network',
  bodyLimitBytes: OPENSTACK_BODY_LIMIT_BYTES,
  open: [''],
  plugin: async (scope) => {
    const context: NetworkContext = {
      ...given,
      authenticate: async (request) => refuseBalancer(await given.authenticate(request)),
    }
    answerLikeNeutron(scope)
    sendListsInPieces(scope, context.turns, async (request) => shareOf(await context.authenticate(request)))
    fixedRoutes(scope, context)
    networkRoutes(scope, context)
    subnetRoutes(scope, context)
    portRoutes(scope, context)
    floatingIpRoutes(scope, context)
    securityGroupRoutes(scope, context)
    tagRoutes(scope, context)
  },
})
