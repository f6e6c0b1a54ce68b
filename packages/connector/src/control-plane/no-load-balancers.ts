import { once } from 'node:events'
import { Refused } from '@spout/client/native-api'
import type { LoadBalancerEvent, LoadBalancerService, ShownNetwork } from './load-balancer-service.ts'

const refused = async (): Promise<never> => {
  throw new Refused('Forbidden', 'The object is of no project.', null)
}

/** The `LoadBalancerService` for Services of no project: it has no load balancers, and refuses to create any. */
export const NO_LOAD_BALANCERS: LoadBalancerService = {
  projectId: refused,
  list: async () => [],
  get: async () => null,
  create: refused,
  loadBalancerClass: async () => null,
  quota: refused,
  replace: refused,
  changeMembers: refused,
  changeRoutes: refused,
  delete: async () => {},
  withdrawal: async () => ({ withdrawn: true, overdue: false, waitingFor: [] }),
  addVip: refused,
  removeVip: refused,
  async *watch(signal): AsyncGenerator<LoadBalancerEvent> {
    yield { type: 'listing' }
    yield { type: 'listed' }
    if (!signal.aborted) await once(signal, 'abort')
  },
  addressPools: async () => [],
  async *poolChanges(signal): AsyncGenerator<void> {
    yield
    if (!signal.aborted) await once(signal, 'abort')
  },
  async *watchNetworks(signal): AsyncGenerator<readonly ShownNetwork[]> {
    yield []
    if (!signal.aborted) await once(signal, 'abort')
  },
  async *watchDomains(signal): AsyncGenerator<readonly string[]> {
    yield []
    if (!signal.aborted) await once(signal, 'abort')
  },
  network: refused,
  replaceRoutes: refused,
}
