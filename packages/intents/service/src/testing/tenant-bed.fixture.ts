import { labelsOfRules, NamespaceReflector, NativeLoadBalancers, type ProjectRule } from '@spout/connector'
import { Transport } from '@spout/kube'
import { createLogger, silentLogger, systemClock } from '@spout/runtime'
import { KubeCluster } from '../kubernetes/kube-cluster.ts'
import { TenantControllers } from '../tenancy/tenant-controllers.ts'
import { externalRanges } from '../to-model/external-ips.ts'
import { servicesOfCluster } from '../to-model/services-of.ts'
import { CLASS, openControllerBed } from './controller-bed.fixture.ts'

const CLUSTER = 'test-cluster'
const BY_ROUTER = {
  routesOfNetwork: 'pods',
  podWay: { routers: ['192.168.20.1'], podCidrs: ['10.128.0.0/16'] },
}

export interface StartTenants {
  readonly rules: readonly ProjectRule[]
  /** Projects of the rules for which the control plane does not answer. */
  readonly without?: readonly string[]
}

/**
 * A controller bed with two tenants: `red` (the bed's project) and `blue` (its stranger), each with pools and a network
 * of its own, and one pool that is open to both.
 */
export async function openTenantBed() {
  const bed = await openControllerBed()
  const { spout } = bed
  const pool = (name: string, cidr: string, first: string, last: string, projectIds: string[] | null) =>
    spout.admission.createAddressPool({
      name,
      description: '',
      cidr,
      ranges: [{ first, last }],
      gatewayIp: null,
      projectIds,
      quarantineSeconds: 0,
    })
  await pool('red', '203.0.113.128/26', '203.0.113.130', '203.0.113.150', [bed.project.id])
  await pool('blue', '203.0.113.192/26', '203.0.113.194', '203.0.113.210', [bed.stranger.id])
  const ids: Readonly<Record<string, string>> = { red: bed.project.id, blue: bed.stranger.id }
  const tokens = new Map<string, string>()
  for (const [name, id] of Object.entries(ids))
    tokens.set(name, (await spout.login(`connector-${name}`, id, 'balancer')).token)
  const nativeOf = (name: string) =>
    new NativeLoadBalancers({
      session: async () => ({ endpoint: bed.endpoint, token: tokens.get(name) ?? '' }),
      forget: () => {},
    })
  const network = await spout.admission.createNetwork({
    projectId: bed.stranger.id,
    name: 'pods',
    description: '',
    returnPath: 'snat',
    segment: { physicalNetwork: 'physnet2', vlan: null },
  })
  // The cluster's own segment is in the network of `red`; here a router leads to the pods.
  const subnet = { name: '', description: '', cidr: '192.168.20.0/24', gatewayIp: null, nodeRange: null }
  await spout.admission.addSubnet(network.id, subnet)
  const running = new Set<{ stop(): Promise<void> }>()

  async function startTenants({ rules, without = [] }: StartTenants) {
    const log = process.env['SPOUT_TEST_LOG'] ? createLogger({ name: 'test', level: 'debug' }) : silentLogger()
    const transport = new Transport({ access: bed.access() })
    const common = { clock: systemClock, log }
    const tenants = await Promise.all(
      rules
        .filter(({ project }) => !without.includes(project))
        .map(async ({ project }) => ({ project, service: nativeOf(project), projectId: ids[project] ?? '' })),
    )
    const lists = await Promise.all(tenants.map(({ service }) => service.list()))
    const events: { readonly service: string; readonly reason: string }[] = []
    const writes: string[] = []
    const request = transport.request.bind(transport)
    transport.request = (wanted) => {
      if (wanted.method !== 'GET') writes.push(`${wanted.method} ${wanted.path}`)
      return request(wanted)
    }
    const cluster = new KubeCluster({
      ...common,
      transport,
      className: CLASS,
      namespace: null,
      knownServices: lists.flatMap((list) => servicesOfCluster(list, CLUSTER)),
      tell: ({ metadata }, { reason }) => void events.push({ service: metadata.name, reason }),
    })
    const namespaces = new NamespaceReflector({ ...common, transport, labels: labelsOfRules(rules) })
    const controllers = new TenantControllers({
      ...common,
      cluster,
      namespaces,
      rules,
      tenants: tenants.map((tenant) => ({
        ...tenant,
        defaultPools: [],
        ...(tenant.project === 'blue' ? BY_ROUTER : { routesOfNetwork: null }),
      })),
      settings: {
        cluster: CLUSTER,
        className: CLASS,
        isDefault: true,
        namespaces: null,
        mode: 'direct',
        externalRanges: externalRanges(['203.0.113.128/25', '198.51.100.160/28']),
      },
    })
    cluster.start()
    namespaces.start()
    controllers.start()
    const made = {
      controllers,
      events,
      writes,
      stop: async () => {
        running.delete(made)
        await controllers.stop()
        await cluster.stop()
        await namespaces.stop()
        transport.close()
      },
    }
    running.add(made)
    return made
  }

  return {
    ...bed,
    ids,
    nativeOf,
    startTenants,
    documentsOf: (name: string) => spout.view.list('loadBalancer', { projectId: ids[name] ?? '' }),
    /** Creates a namespace, or changes its labels. */
    namespace: async (name: string, labels: Readonly<Record<string, string | null>> = {}) => {
      await bed.api.create('/api/v1/namespaces', { metadata: { name } }).catch(() => {})
      await bed.api.patch(`/api/v1/namespaces/${name}`, { metadata: { labels } })
    },
    close: async () => {
      for (const one of [...running]) await one.stop()
      await bed.close()
    },
  }
}

export type TenantBed = Awaited<ReturnType<typeof openTenantBed>>
