import type { EndpointSlice, ObjectEvent, Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { waitFor } from '@spout/testkit'
import {
  CLUSTER,
  type Connection,
  observed,
  openClusterBed,
  type RunOptions,
} from '../../../../connector/src/testing/cluster-bed.fixture.ts'
import type { ServiceControllerOptions, ServiceControllerSettings } from '../controller/context.ts'
import { ServiceController } from '../controller/service-controller.ts'
import { KubeCluster } from '../kubernetes/kube-cluster.ts'
import { servicesOfCluster } from '../to-model/services-of.ts'

export const CLASS = 'spout.dev/load-balancer'

/** A cluster bed with a controller of Services, with pools of several kinds and subnets of both families. */
export async function openControllerBed() {
  const bed = await openClusterBed(['10.128.0.0/16', 'fd00:128::/64', '10.0.0.0/24'])
  const { api, spout, pool } = bed
  const stranger = await spout.admission.createProject({ name: 'stranger', description: '' })
  const pools = {
    public: spout.view.list('addressPool').find(({ name }) => name === 'public')!,
    six: await pool('six', '2001:db8:1::/64', '2001:db8:1::10', '2001:db8:1::ff'),
    tiny: await pool('tiny', '203.0.113.0/24', '203.0.113.10', '203.0.113.10'),
    old: await pool('old', '192.0.2.0/24', '192.0.2.100', '192.0.2.109'),
    foreign: await pool('foreign', '192.0.2.0/24', '192.0.2.10', '192.0.2.20', [stranger.id]),
  }

  function start(overrides: Partial<ServiceControllerSettings> = {}, hooks: ControllerHooks = {}) {
    /** Names of the Services whose absence the controller has checked with the API server. */
    const asked: string[] = []
    const onRequest: RunOptions['onRequest'] = async ({ method, path, query }) => {
      if (method !== 'GET') await hooks.onWrite?.(`${method} ${path}`)
      const [, name] = /^metadata\.name=(.*)$/.exec(String(query?.['fieldSelector'] ?? '')) ?? []
      if (name === undefined) return
      asked.push(name)
      hooks.onQuestion?.()
    }
    return bed.run('service', (connection) => composed(connection, overrides, hooks, asked), { onRequest })
  }

  async function composed(
    { transport, clock, log, slices, certificatesOf }: Connection,
    overrides: Partial<ServiceControllerSettings>,
    hooks: ControllerHooks,
    asked: string[],
  ) {
    const watch = heldWatch(transport)
    const events: { readonly service: string; readonly event: ObjectEvent }[] = []
    /** Changing calls to the control plane, such as `replace`. */
    const calls: string[] = []
    const settings: ServiceControllerSettings = {
      cluster: CLUSTER,
      className: CLASS,
      isDefault: true,
      namespaces: null,
      mode: 'direct',
      defaultPools: ['public', 'six'],
      externalRanges: [],
      routesOfNetwork: null,
      ...overrides,
    }
    const native = bed.native()
    const kube = new KubeCluster({
      ...{ transport, clock, log, slices, className: settings.className, namespace: null },
      knownServices: servicesOfCluster(await native.list(), settings.cluster),
      tell: ({ metadata }, event) => void events.push({ service: metadata.name, event }),
    })
    const certificates = certificatesOf(bed.sessions)
    const controller = new ServiceController({
      ...{ cluster: kube, service: observed(native, calls, hooks.onCall), settings, clock, log },
      certificates: hooks.certificates ?? certificates,
    })
    const parts = [watch.part, certificates, kube, controller]
    return { made: { controller, kube, calls, events, asked, holdWatch: watch.hold }, parts }
  }

  const servicePath = (name: string, namespace = 'shop') => `/api/v1/namespaces/${namespace}/services/${name}`
  const get = (name: string, namespace = 'shop') => api.get<Service>(servicePath(name, namespace))
  const documentOf = (one: Service): LoadBalancer | undefined =>
    bed.documents().find(({ annotations }) => annotations[`kubernetes.service.${one.metadata.uid}`] !== undefined)

  return {
    ...bed,
    ...{ pools, stranger, start, get, servicePath, documentOf },
    /** Creates a Service of type LoadBalancer. */
    create: (name: string, spec: object = {}, annotations: Record<string, string> = {}, namespace = 'shop') =>
      api.create<Service>(`/api/v1/namespaces/${namespace}/services`, {
        metadata: { name, namespace, annotations },
        spec: {
          type: 'LoadBalancer',
          selector: {},
          ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
          ...spec,
        } as Service['spec'],
      }),
    change: (name: string, body: object, namespace = 'shop') => api.patch<Service>(servicePath(name, namespace), body),
    remove: (name: string, namespace = 'shop') => api.delete(servicePath(name, namespace)),
    /** Writes a slice of a Service by hand, as there are no pods. */
    slice: (
      serviceName: string,
      body: Omit<EndpointSlice, 'metadata'>,
      name = `${serviceName}-1`,
      namespace = 'shop',
    ) => bed.slice(name, serviceName, body, namespace),
    /** The Service once the check passes. */
    when: (name: string, what: string, holds: (service: Service) => boolean | Promise<boolean>, namespace = 'shop') =>
      waitFor(
        async () => {
          const one = await get(name, namespace)
          return (await holds(one)) && one
        },
        { what: `${name}: ${what}`, timeoutMs: 15_000 },
      ),
    gone: (name: string, namespace = 'shop') =>
      waitFor(async () => (await get(name, namespace).catch(() => null)) === null, { what: `${name} to be gone` }),
  }
}

export type ControllerBed = Awaited<ReturnType<typeof openControllerBed>>
/** A running controller, and records of what it did. */
export type RunningController = Awaited<ReturnType<ControllerBed['start']>>

/** Functions of a test that the controller waits for. */
export interface ControllerHooks {
  /** Used instead of the project's certificates. */
  readonly certificates?: NonNullable<ServiceControllerOptions['certificates']>
  /** Called before the API server is asked whether a Service is gone. If it throws, the question fails. */
  readonly onQuestion?: () => void
  /** Called before a write is sent to the API server, with `METHOD PATH`. */
  readonly onWrite?: (write: string) => Promise<void>
  /** Called before a call to the control plane, with its name in `LoadBalancerService`. */
  readonly onCall?: (name: string) => Promise<void>
}

/** A watch of Services that can be paused: `hold` pauses it until `letGo` is called. */
function heldWatch(transport: Connection['transport']) {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  const lines = transport.lines.bind(transport)
  transport.lines = async function* (wanted) {
    for await (const group of lines(wanted)) {
      if (wanted.path.endsWith('/services')) await gate.promise
      yield group
    }
  }
  return {
    hold: () => {
      gate = Promise.withResolvers<void>()
      return { letGo: gate.resolve }
    },
    part: { start: () => {}, stop: async () => gate.resolve() },
  }
}

export const ips = ({ status }: Service): readonly string[] =>
  (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '')

export const condition = ({ status }: Service, type = 'spout.dev/Programmed') =>
  status?.conditions?.find((one) => one.type === type)
