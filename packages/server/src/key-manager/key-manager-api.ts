import { PAYLOAD_TYPES } from '@spout/model'
import { refuseBalancer } from '../authn/balancer.ts'
import { OPENSTACK_BODY_LIMIT_BYTES, type Surface } from '../http/host.ts'
import { containerRoutes } from './container-routes.ts'
import type { KeyManagerContext } from './context.ts'
import { answerLikeBarbican } from './fault.ts'
import { fixedRoutes } from './fixed-routes.ts'
import { secretRoutes } from './secret-routes.ts'

/**
 * A Barbican v1 facade over the project's secrets, as far as unmodified clients need it to keep certificates for load
 * balancers. A payload is answered to its project alone, and to nobody else.
 */
export const keyManagerApi = (given: KeyManagerContext): Surface => ({
  prefix: '/key-manager',
  bodyLimitBytes: OPENSTACK_BODY_LIMIT_BYTES,
  open: ['', '/v1'],
  plugin: async (scope) => {
    const context: KeyManagerContext = {
      ...given,
      authenticate: async (request) => refuseBalancer(await given.authenticate(request)),
    }
    answerLikeBarbican(scope)
    for (const type of PAYLOAD_TYPES)
      scope.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    fixedRoutes(scope, context)
    secretRoutes(scope, context)
    containerRoutes(scope, context)
  },
})
