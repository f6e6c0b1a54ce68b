import { NativeDocuments } from '@spout/connector'
import { customResourceDefinitions, GROUP } from '@spout/custom-resources'
import { CLUSTER, endpointsOf, openClusterBed, said } from '../../../../connector/src/testing/cluster-bed.fixture.ts'
import { LoadBalancerController } from '../controller/load-balancer-controller.ts'
import { KubeCluster } from '../kubernetes/kube-cluster.ts'
import { LOAD_BALANCERS, type LoadBalancerObject } from '../load-balancer-object.ts'

const OBJECTS = `/apis/${GROUP}/v1/namespaces/shop/loadbalancers`

/** A cluster bed with our kinds, and a controller of LoadBalancer objects. */
export async function openLoadBalancerBed() {
  const bed = await openClusterBed()
  const { api, spout, until } = bed
  const definitions = customResourceDefinitions()
  for (const one of definitions) await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', one)
  await until('the kind', () => api.list(OBJECTS).catch(() => null))

  /** The events that were recorded, as `name type reason`. */
  const told: string[] = []
  const start = () =>
    bed.run('load-balancer', ({ transport, clock, log, slices, backends, certificatesOf }) => {
      const kube = new KubeCluster({
        ...{ transport, clock, log, namespace: null, slices, backends },
        tell: ({ metadata }, { type, reason }) => told.push(`${metadata.name} ${type} ${reason}`),
      })
      const certificates = certificatesOf(bed.sessions)
      const native = new NativeDocuments(bed.sessions)
      const documentWrites: string[] = []
      const controller = new LoadBalancerController({
        ...{ cluster: kube, certificates, clock, log },
        service: bed.native(),
        documents: {
          create: (...call) => {
            documentWrites.push('create')
            return native.create(...call)
          },
          replace: (...call) => {
            documentWrites.push('replace')
            return native.replace(...call)
          },
        },
        settings: { cluster: CLUSTER, namespaces: null, defaultPools: [] },
      })
      return { made: { controller, documentWrites }, parts: [certificates, kube, controller] }
    })

  const get = (name: string) => api.get<LoadBalancerObject>(`${OBJECTS}/${name}`)
  return {
    ...bed,
    told,
    start,
    get,
    documentOf: (name: string) => bed.documents().find((one) => one.name === `shop/${name}`),
    create: (name: string, spec: object) =>
      api.create<LoadBalancerObject>(OBJECTS, {
        ...{ apiVersion: LOAD_BALANCERS.apiVersion, kind: LOAD_BALANCERS.kind, spec },
        metadata: { name, namespace: 'shop' },
      } as LoadBalancerObject),
    change: (name: string, spec: object) => api.patch(`${OBJECTS}/${name}`, { spec }),
    remove: (name: string) => api.delete(`${OBJECTS}/${name}`),
    /** Waits until an object satisfies the check. */
    when: (
      name: string,
      what: string,
      holds: (said: Readonly<Record<string, string>>, one: LoadBalancerObject) => boolean,
    ) =>
      until(`${name}: ${what}`, async () => {
        const one = await get(name)
        return holds(said(one.status?.conditions), one) && one
      }),
    createService: (name: string, labels: Readonly<Record<string, string>> = {}) =>
      api.create('/api/v1/namespaces/shop/services', {
        metadata: { name, namespace: 'shop', labels },
        spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
      } as never),
    slice: (name: string, addresses: readonly string[], service: string | null) =>
      bed.slice(name, service, endpointsOf(addresses)),
    /** A security group of the project. @returns its id */
    createSecurityGroup: async (name: string) => {
      const { id } = await spout.admission.createSecurityGroup({
        projectId: bed.project.id,
        name,
        description: '',
        tags: [],
      })
      return id
    },
    /** Somebody changes a load balancer through the native API. */
    tamper: (id: string, change: object) => spout.admission.changeLoadBalancer(id, () => change),
  }
}

export type LoadBalancerBed = Awaited<ReturnType<typeof openLoadBalancerBed>>
