import { type AddressPool, type HealthMonitor, type Network, type Project, SpoutError, type Subnet } from '@spout/model'
import { MemoryStore, type Store } from '@spout/store'
import { metaOf } from '@spout/testkit/model'
import type { LoadBalancerDraft, VipRequest } from '../contract/load-balancer-admission.ts'
import { StoreAdmission, type StoreAdmissionOptions } from '../store-admission.ts'
import { StoreView } from '../view/store-view.ts'

/** A store with two projects, a pool of public addresses, and a network of the first project, behind its admission. */
export interface Office {
  readonly store: Store
  readonly view: StoreView
  readonly admission: StoreAdmission
  readonly project: Project
  readonly stranger: Project
  readonly pool: AddressPool
  readonly network: Network
  readonly subnet: Subnet
  /** Moves the clock. */
  readonly later: (ms: number) => void
  /** Ids of addresses in use and of load balancers, which a refused request must not change. */
  readonly holdings: () => readonly string[]
  readonly close: () => Promise<void>
}

/** @param store an empty one, which is closed with it */
export async function openOffice(
  options: Partial<StoreAdmissionOptions> = {},
  store: Store = new MemoryStore(),
): Promise<Office> {
  const ended = new AbortController()
  const view = await StoreView.open(store, { signal: ended.signal })
  let nowMs = Date.parse('2026-01-01T00:00:00.000Z')
  const admission = new StoreAdmission({ store, view, now: () => nowMs, ...options })
  const project = await admission.createProject({ name: 'own', description: '' })
  const stranger = await admission.createProject({ name: 'stranger', description: '' })
  const pool = await admission.createAddressPool({
    name: 'public',
    description: '',
    ranges: [{ first: '192.0.2.10', last: '192.0.2.250' }],
    cidr: '192.0.2.0/24',
    gatewayIp: '192.0.2.1',
    projectIds: null,
    quarantineSeconds: 60,
  })
  const network = await admission.createNetwork(networkDraft(project.id))
  const subnet = await admission.addSubnet(network.id, subnetDraft('10.0.0.0/24', '10.0.0.1'))
  return {
    store,
    view,
    admission,
    project,
    stranger,
    pool,
    network,
    subnet,
    later: (ms) => {
      nowMs += ms
    },
    holdings: () => [
      ...view.list('loadBalancer').map(({ id, generation }) => `${id} ${generation}`),
      ...view.list('address').map(({ id, ownerId, quarantineUntil }) => `${id} ${ownerId} ${quarantineUntil}`),
    ],
    close: async () => {
      ended.abort()
      admission.close()
      await store.close()
    },
  }
}

/** Each project has a physical network of its own, because a segment belongs to one project. */
export const networkDraft = (projectId: string, returnPath: Network['returnPath'] = 'gateway') => ({
  projectId,
  name: 'net',
  description: '',
  returnPath,
  segment: { physicalNetwork: `net-${projectId.slice(-12)}`, vlan: null },
})

export const subnetDraft = (cidr: string, gatewayIp: string | null) => ({
  name: '',
  description: '',
  cidr,
  gatewayIp,
  nodeRange: null,
})

export { listenerOf, memberOf, poolOf } from '@spout/testkit/model'

export const monitorOf = (id: string, fields: Partial<HealthMonitor> = {}): HealthMonitor => ({
  ...metaOf(id),
  tags: [],
  enabled: true,
  type: 'tcp',
  intervalMs: 1000,
  timeoutMs: 500,
  rise: 2,
  fall: 2,
  http: null,
  ...fields,
})

export const draftOf = (
  projectId: string,
  vips: readonly VipRequest[],
  fields: Partial<LoadBalancerDraft> = {},
): LoadBalancerDraft => ({
  projectId,
  name: 'web',
  description: '',
  tags: [],
  enabled: true,
  vips,
  listeners: [],
  pools: [],
  nodeGroupId: null,
  annotations: {},
  ...fields,
})

/** The error that the work is refused with. */
export async function refusal(work: Promise<unknown>): Promise<SpoutError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof SpoutError)) throw new Error(`expected a refusal, got ${String(error)}`, { cause: error })
  return error
}
