import {
  BackendServices,
  NativeCertificates,
  NativeDocuments,
  NativeLoadBalancers,
  ServiceSlices,
  TlsCertificates,
} from '@spout/connector'
import { customResourceDefinitions, GROUP } from '@spout/custom-resources'
import { type ClusterAccess, type Condition, Transport } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { createLogger, Secret, silentLogger, systemClock } from '@spout/runtime'
import { KubernetesCluster, Lab, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { openTestBed } from '../../../../server/src/test-bed.ts'
import { LoadBalancerController } from '../controller/load-balancer-controller.ts'
import { KubeCluster } from '../kubernetes/kube-cluster.ts'
import { LOAD_BALANCERS, type LoadBalancerObject } from '../load-balancer-object.ts'

const CLUSTER = 'test-cluster'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'
const OBJECTS = `/apis/${GROUP}/v1/namespaces/shop/loadbalancers`

/**
 * A real API server with our kinds, and a real control plane over HTTP with one project. The test plays the nodes'
 * confirmations.
 */
export async function openLoadBalancerBed() {
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
  await api.create('/api/v1/namespaces', { metadata: { name: 'shop' } })
  const definitions = customResourceDefinitions()
  for (const one of definitions) await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', one)
  await waitFor(() => api.list(OBJECTS).catch(() => null), { what: 'the kind', timeoutMs: 15_000 })
  const access: ClusterAccess = {
    server: new URL(api.access.url),
    ca: api.authority,
    tlsServerName: null,
    skipTlsVerify: false,
    token: { type: 'value', token: new Secret(api.access.token) },
    clientCertificate: null,
    namespace: 'default',
  }

  const running = new Set<{ stop(): Promise<void> }>()
  async function start() {
    const log = process.env['SPOUT_TEST_LOG'] ? createLogger({ name: 'test', level: 'debug' }) : silentLogger()
    const transport = new Transport({ access })
    const sessions = { session: async () => ({ endpoint, token }), forget: () => {} }
    const common = { transport, clock: systemClock, log, namespace: null }
    const slices = new ServiceSlices(common)
    const backends = new BackendServices({ ...common, slices })
    const kube = new KubeCluster({ ...common, slices, backends })
    const certificates = new TlsCertificates({
      ...{ transport, clock: systemClock, log, cluster: CLUSTER, namers: ['load-balancer'] },
      service: new NativeCertificates(sessions),
    })
    const native = new NativeDocuments(sessions)
    /** Writes of documents. */
    const writes: string[] = []
    const controller = new LoadBalancerController({
      ...{ cluster: kube, certificates, clock: systemClock, log },
      service: new NativeLoadBalancers(sessions),
      documents: {
        create: (...call) => {
          writes.push('create')
          return native.create(...call)
        },
        replace: (...call) => {
          writes.push('replace')
          return native.replace(...call)
        },
      },
      settings: { cluster: CLUSTER, namespaces: null, defaultPools: [] },
    })
    slices.reflector.start()
    backends.start()
    certificates.start()
    kube.start()
    controller.start()
    const made = {
      controller,
      writes,
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

  const documents = (): readonly LoadBalancer[] => spout.view.list('loadBalancer', { projectId: project.id })
  const get = (name: string) => api.get<LoadBalancerObject>(`${OBJECTS}/${name}`)
  const until = <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 15_000 })
  return {
    api,
    start,
    until,
    get,
    documents,
    documentOf: (name: string) => documents().find((one) => one.name === `shop/${name}`),
    create: (name: string, spec: object) =>
      api.create<LoadBalancerObject>(OBJECTS, {
        ...{ apiVersion: LOAD_BALANCERS.apiVersion, kind: LOAD_BALANCERS.kind, spec },
        metadata: { name, namespace: 'shop' },
      } as LoadBalancerObject),
    change: (name: string, spec: object) => api.patch(`${OBJECTS}/${name}`, { spec }),
    remove: (name: string) => api.delete(`${OBJECTS}/${name}`),
    /** Waits until an object is as wanted. */
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
      api.apply(`${SLICES}/${name}`, {
        ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
        metadata: {
          name,
          namespace: 'shop',
          labels: service === null ? {} : { 'kubernetes.io/service-name': service },
        },
        endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      }),
    secret: (name: string, host: string) => {
      const { certificate, key } = issueCertificate({ names: [host], days: 90 })
      const base64 = (text: string): string => Buffer.from(text).toString('base64')
      return api.apply(`/api/v1/namespaces/shop/secrets/${name}`, {
        ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name, namespace: 'shop' } },
        data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
      })
    },
    /** Somebody changes a load balancer through the native API. */
    tamper: (id: string, change: object) => spout.admission.changeLoadBalancer(id, () => change),
    confirm: (document: LoadBalancer) =>
      spout.status.set(document.id, {
        provisioning: 'active',
        reason: 'Programmed',
        message: 'ok',
        confirmedGeneration: document.generation,
      }),
    close: async () => {
      for (const one of [...running]) await one.stop()
      await spout.close()
      await cluster.destroy()
      await lab.destroy()
    },
  }
}

export type LoadBalancerBed = Awaited<ReturnType<typeof openLoadBalancerBed>>

/** Conditions as `status reason`, by type. */
const said = (conditions: readonly Condition[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
