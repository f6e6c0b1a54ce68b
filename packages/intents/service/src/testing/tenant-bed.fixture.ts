import { labelsOfRules, NamespaceReflector, NativeLoadBalancers, type ProjectRule } from '@spout/connector'
import { CLUSTER, type ClusterBed } from '../../../../connector/src/testing/cluster-bed.fixture.ts'
import { KubeCluster } from '../kubernetes/kube-cluster.ts'
import { ServiceControllers } from '../tenancy/service-controllers.ts'
import { externalRanges } from '../to-model/external-ips.ts'
import { servicesOfCluster } from '../to-model/services-of.ts'
import { CLASS, openControllerBed } from './controller-bed.fixture.ts'

const BY_ROUTER = {
  routesOfNetwork: 'pods',
  podWay: { routers: ['192.168.20.1'], podCidrs: ['10.128.0.0/16'] },
}

export interface StartTenants {
  readonly rules: readonly ProjectRule[]
  /** Projects in the rules for which the control plane does not answer. */
  readonly without?: readonly string[]
}

/**
 * A controller bed with two tenants: `red` (the bed's project) and `blue` (its stranger), each with pools and a network
 * of its own, and one pool that is open to both.
 */
export async function openTenantBed() {
  const bed = await openControllerBed()
  const { spout, pool } = bed
  await pool('red', '203.0.113.128/26', '203.0.113.130', '203.0.113.150', [bed.project.id])
  await pool('blue', '203.0.113.192/26', '203.0.113.194', '203.0.113.210', [bed.stranger.id])
  const ids: Readonly<Record<string, string>> = { red: bed.project.id, blue: bed.stranger.id }
  const sessions = new Map<string, ClusterBed['sessions']>()
  for (const [name, id] of Object.entries(ids)) sessions.set(name, await bed.sessionsOf(id, `connector-${name}`))
  const nativeOf = (name: string) => new NativeLoadBalancers(sessions.get(name)!)
  // The cluster's own segment is in the network of `red`; here a router leads to the pods.
  await bed.createNetwork(bed.stranger.id, 'physnet2', ['192.168.20.0/24'])

  const startTenants = ({ rules, without = [] }: StartTenants) =>
    bed.run('service', async ({ transport, clock, log, slices, certificatesOf }) => {
      const tenants = rules
        .filter(({ project }) => !without.includes(project))
        .map(({ project }) => ({
          ...{ project, service: nativeOf(project), projectId: ids[project] ?? '', defaultPools: [] },
          certificates: certificatesOf(sessions.get(project)!),
          ...(project === 'blue' ? BY_ROUTER : { routesOfNetwork: null }),
        }))
      const lists = await Promise.all(tenants.map(({ service }) => service.list()))
      const events: { readonly service: string; readonly reason: string }[] = []
      const cluster = new KubeCluster({
        ...{ transport, clock, log, slices, className: CLASS, namespace: null },
        knownServices: lists.flatMap((list) => servicesOfCluster(list, CLUSTER)),
        tell: ({ metadata }, { reason }) => void events.push({ service: metadata.name, reason }),
      })
      const namespaces = new NamespaceReflector({ transport, clock, log, labels: labelsOfRules(rules) })
      const controllers = new ServiceControllers({
        ...{ cluster, namespaces, rules, tenants, clock, log },
        settings: {
          cluster: CLUSTER,
          className: CLASS,
          isDefault: true,
          namespaces: null,
          mode: 'direct',
          externalRanges: externalRanges(['203.0.113.128/25', '198.51.100.160/28']),
        },
      })
      return { made: { controllers, events }, parts: [cluster, namespaces, controllers] }
    })

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
  }
}

export type TenantBed = Awaited<ReturnType<typeof openTenantBed>>
