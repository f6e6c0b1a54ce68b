import {
  BackendServices,
  NativeCertificates,
  NativeLoadBalancers,
  ServiceSlices,
  TlsCertificates,
} from '@spout/connector'
import { type ClusterAccess, type Ingress, type IngressSpec, Transport } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { createLogger, Secret, silentLogger, systemClock } from '@spout/runtime'
import { KubernetesCluster, Lab, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { openTestBed } from '../../../../server/src/test-bed.ts'
import type { IngressEvent } from '../controller/cluster.ts'
import { IngressController } from '../controller/ingress-controller.ts'
import { KubeCluster } from '../kubernetes/kube-cluster.ts'
import { CONTROLLER_NAME } from '../names.ts'

const NETWORKING = '/apis/networking.k8s.io/v1'
const CLUSTER = 'test-cluster'

/** A running controller, and a record of what it did. */
export interface RunningIngresses {
  readonly controller: IngressController
  readonly events: { readonly ingress: string; readonly event: IngressEvent }[]
  /** Writes to the API server. */
  readonly writes: string[]
  stop(): Promise<void>
}

/**
 * A real API server, and a real control plane over HTTP with one project. The test plays the nodes' confirmations. There
 * are two classes: `spout`, which is ours and the default, and `foreign`.
 */
export async function openIngressBed() {
  const lab = await Lab.create()
  const cluster = await KubernetesCluster.start(lab)
  const spout = await openTestBed()
  const endpoint = await spout.app.listen({ host: '127.0.0.1', port: 0 })
  const project = await spout.admission.createProject({ name: 'tenant', description: '' })
  const { token } = await spout.login('connector', project.id, 'balancer')
  await spout.admission.createAddressPool({
    ...{ name: 'public', description: '', cidr: '198.51.100.0/24', gatewayIp: null, projectIds: null },
    ranges: [{ first: '198.51.100.10', last: '198.51.100.200' }],
    quarantineSeconds: 0,
  })
  const network = await spout.admission.createNetwork({
    ...{ projectId: project.id, name: 'pods', description: '', returnPath: 'snat' },
    segment: { physicalNetwork: 'physnet1', vlan: null },
  })
  await spout.admission.addSubnet(network.id, {
    ...{ name: '', description: '', cidr: '10.128.0.0/16', gatewayIp: null, nodeRange: null },
  })
  const { api } = cluster
  for (const name of ['shop', 'other']) await api.create('/api/v1/namespaces', { metadata: { name } })
  await api.create(`${NETWORKING}/ingressclasses`, {
    metadata: { name: 'spout', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller: CONTROLLER_NAME },
  } as object)
  await api.create(`${NETWORKING}/ingressclasses`, {
    metadata: { name: 'foreign' },
    spec: { controller: 'example.com/other' },
  } as object)

  const access: ClusterAccess = {
    server: new URL(api.access.url),
    ca: api.authority,
    tlsServerName: null,
    skipTlsVerify: false,
    token: { type: 'value', token: new Secret(api.access.token) },
    clientCertificate: null,
    namespace: 'default',
  }
  const sessions = { session: async () => ({ endpoint, token }), forget: () => {} }
  const running = new Set<RunningIngresses>()

  async function start(): Promise<RunningIngresses> {
    const log = process.env['SPOUT_TEST_LOG'] ? createLogger({ name: 'test', level: 'debug' }) : silentLogger()
    const transport = new Transport({ access })
    const writes: string[] = []
    const request = transport.request.bind(transport)
    transport.request = (wanted) => {
      if (wanted.method !== 'GET') writes.push(`${wanted.method} ${wanted.path}`)
      return request(wanted)
    }
    const common = { transport, clock: systemClock, log }
    const events: RunningIngresses['events'] = []
    const slices = new ServiceSlices({ ...common, namespace: null })
    const backends = new BackendServices({ ...common, namespace: null, slices })
    const certificates = new TlsCertificates({
      ...common,
      service: new NativeCertificates(sessions),
      cluster: CLUSTER,
      namers: ['ingress'],
    })
    const kube = new KubeCluster({
      ...common,
      namespace: null,
      slices,
      backends,
      knownIngresses: [],
      tell: ({ metadata }, event) => void events.push({ ingress: metadata.name, event }),
    })
    const controller = new IngressController({
      cluster: kube,
      service: new NativeLoadBalancers(sessions),
      certificates,
      settings: { cluster: CLUSTER, namespaces: null, defaultPools: ['public'] },
      clock: systemClock,
      log,
    })
    slices.reflector.start()
    backends.start()
    kube.start()
    certificates.start()
    controller.start()
    const made: RunningIngresses = {
      ...{ controller, events, writes },
      stop: async () => {
        running.delete(made)
        await controller.stop()
        await certificates.stop()
        await Promise.all([kube.stop(), backends.stop(), slices.reflector.close()])
        transport.close()
      },
    }
    running.add(made)
    return made
  }

  const path = (name: string, namespace = 'shop') => `${NETWORKING}/namespaces/${namespace}/ingresses/${name}`
  const documents = (): readonly LoadBalancer[] => spout.view.list('loadBalancer', { projectId: project.id })
  const until = <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 20_000 })

  return {
    ...{ api, spout, project, endpoint, access, start, documents, until, path },
    /** What names the project may have. */
    giveDomains: (domains: readonly string[]) => spout.admission.changeProject(project.id, { domains: [...domains] }),
    certificates: () => spout.view.list('certificate', { projectId: project.id }),
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
      await api.apply(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}-1`, {
        ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
        metadata: { name: `${name}-1`, namespace, labels: { 'kubernetes.io/service-name': name } },
        ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
        endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      })
    },
    secret: (name: string, host: string) => {
      const { certificate, key } = issueCertificate({ names: [host] })
      const data = { 'tls.crt': certificate, 'tls.key': key }
      return api.apply(`/api/v1/namespaces/shop/secrets/${name}`, {
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'shop' }, type: 'kubernetes.io/tls' },
        data: Object.fromEntries(
          Object.entries(data).map(([field, text]) => [field, Buffer.from(text).toString('base64')]),
        ),
      })
    },
    /** The only load balancer, once the check passes. */
    document: (what: string, holds: (one: LoadBalancer) => boolean) =>
      until(what, () => {
        const [one, more] = documents()
        return more === undefined && one !== undefined && holds(one) && one
      }),
    /** The nodes confirm a load balancer. */
    confirm: ({ id, generation }: LoadBalancer) =>
      spout.status.set(id, {
        ...{ provisioning: 'active', reason: 'Programmed', message: 'ok', confirmedGeneration: generation },
      }),
    close: async () => {
      for (const one of [...running]) await one.stop()
      await spout.close()
      await cluster.destroy()
      await lab.destroy()
    },
  }
}

export type IngressBed = Awaited<ReturnType<typeof openIngressBed>>

export const ips = ({ status }: Ingress): readonly string[] =>
  (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '')
