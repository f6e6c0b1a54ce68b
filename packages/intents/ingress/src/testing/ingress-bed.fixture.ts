import type { Ingress, IngressSpec, ObjectEvent } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { CLUSTER, endpointsOf, openClusterBed } from '../../../../connector/src/testing/cluster-bed.fixture.ts'
import { IngressController } from '../controller/ingress-controller.ts'
import { KubeCluster } from '../kubernetes/kube-cluster.ts'
import { CONTROLLER_NAME } from '../names.ts'

const NETWORKING = '/apis/networking.k8s.io/v1'

/**
 * A cluster bed with a controller of Ingresses. There are two classes: `spout`, which is ours and the default, and
 * `foreign`.
 */
export async function openIngressBed() {
  const bed = await openClusterBed()
  const { api, documents, until } = bed
  await api.create(`${NETWORKING}/ingressclasses`, {
    metadata: { name: 'spout', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller: CONTROLLER_NAME },
  } as object)
  await api.create(`${NETWORKING}/ingressclasses`, {
    metadata: { name: 'foreign' },
    spec: { controller: 'example.com/other' },
  } as object)

  const start = () =>
    bed.run('ingress', ({ transport, clock, log, slices, backends, certificatesOf }) => {
      const events: { readonly ingress: string; readonly event: ObjectEvent }[] = []
      const certificates = certificatesOf(bed.sessions)
      const kube = new KubeCluster({
        ...{ transport, clock, log, namespace: null, slices, backends, knownIngresses: [] },
        tell: ({ metadata }, event) => void events.push({ ingress: metadata.name, event }),
      })
      const controller = new IngressController({
        ...{ cluster: kube, service: bed.native(), certificates, clock, log },
        settings: { cluster: CLUSTER, namespaces: null, defaultPools: ['public'] },
      })
      return { made: { controller, events }, parts: [certificates, kube, controller] }
    })

  const path = (name: string, namespace = 'shop') => `${NETWORKING}/namespaces/${namespace}/ingresses/${name}`

  return {
    ...bed,
    ...{ start, path },
    get: (name: string, namespace = 'shop') => api.get<Ingress>(path(name, namespace)),
    create: (name: string, spec: IngressSpec, namespace = 'shop') =>
      api.create<Ingress>(`${NETWORKING}/namespaces/${namespace}/ingresses`, { metadata: { name, namespace }, spec }),
    remove: (name: string, namespace = 'shop') => api.delete(path(name, namespace)),
    /** A Service with endpoints. */
    service: async (name: string, addresses: readonly string[], namespace = 'shop') => {
      await api.apply(`/api/v1/namespaces/${namespace}/services/${name}`, {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace } },
        spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
      })
      await bed.slice(`${name}-1`, name, endpointsOf(addresses), namespace)
    },
    /** The only load balancer, once the check passes. */
    document: (what: string, holds: (one: LoadBalancer) => boolean) =>
      until(what, () => {
        const [one, more] = documents()
        return more === undefined && one !== undefined && holds(one) && one
      }),
  }
}

export type IngressBed = Awaited<ReturnType<typeof openIngressBed>>
/** A running controller, and a record of what it did. */
export type RunningIngresses = Awaited<ReturnType<IngressBed['start']>>

export const ips = ({ status }: Ingress): readonly string[] =>
  (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '')
