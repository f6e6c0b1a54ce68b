import {
  BackendServices,
  type KindReflector,
  labelsOfRules,
  NamespaceReflector,
  NativeCertificates,
  type ProjectRule,
  ServiceSlices,
  TlsCertificates,
} from '@spout/connector'
import type { GatewayControllerCounters } from '@spout/intent-gateway'
import type { IngressControllerCounters } from '@spout/intent-ingress'
import type { LoadBalancerControllerCounters } from '@spout/intent-load-balancer'
import {
  KubeCluster,
  type OwnSettings,
  ServiceController,
  type ServiceControllerCounters,
  type ServiceControllerSettings,
  servicesOfCluster,
  TenantControllers,
} from '@spout/intent-service'
import type { EventRecorder, Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import { balancedGateways } from './balanced-gateways.ts'
import { balancedIngresses } from './balanced-ingresses.ts'
import { type BalancedKind, onlyNamespace } from './balanced-kind.ts'
import { balancedLoadBalancers } from './balanced-load-balancers.ts'
import type { NamedProject, OpenedProject } from './opened-project.ts'

/** What the projects of a cluster have in common. */
type ClusterSettings = Omit<ServiceControllerSettings, keyof OwnSettings> & {
  /** Whose EndpointSlices count; empty takes all. */
  readonly slicesBy: readonly string[]
}

export interface BalancedClusterOptions {
  readonly transport: Transport
  readonly events: EventRecorder
  readonly settings: ClusterSettings
  /** Those that answered. */
  readonly projects: readonly OpenedProject[]
  /** Of all projects, also of those that did not; none when all namespaces are of one project. */
  readonly rules: readonly ProjectRule[]
  readonly clock: Clock
  readonly log: Logger
}

/** Services with their EndpointSlices. */
interface Sources {
  readonly slices: ServiceSlices
  readonly backends: BackendServices
}

/** Whatever does the work: one controller, or one for each project. */
type Controllers = Pick<ServiceController, 'ready' | 'counters' | 'start' | 'stop'>

/** The cluster in memory, and who brings the projects' load balancers together with it. */
export class BalancedCluster {
  readonly #cluster: KubeCluster
  /** What routes send requests to, once for all kinds that have any. Gateways may name Services of any namespace. */
  readonly #sources: Sources
  readonly #sourcesOfGateways: Sources
  readonly #namespaces: NamespaceReflector
  readonly #controllers: Controllers
  /** Of Services, by project. */
  readonly #certificates: readonly TlsCertificates[]
  readonly #gateways: BalancedKind<GatewayControllerCounters>
  readonly #ingresses: BalancedKind<IngressControllerCounters>
  readonly #loadBalancers: BalancedKind<LoadBalancerControllerCounters>
  /** Those that begin once the cluster has the kind. */
  readonly #later: readonly BalancedKind<unknown>[]

  constructor({ transport, events, settings, projects, rules, clock, log }: BalancedClusterOptions) {
    const { namespaces } = settings
    const [first] = projects
    const namespace = onlyNamespace(namespaces)
    const sourcesIn = (namespace: string | null): Sources => {
      const slices = new ServiceSlices({ transport, clock, log, namespace, slicesBy: settings.slicesBy })
      return { slices, backends: new BackendServices({ transport, clock, log, namespace, slices }) }
    }
    this.#sources = sourcesIn(namespace)
    this.#sourcesOfGateways = namespace === null ? this.#sources : sourcesIn(null)
    this.#cluster = new KubeCluster({
      ...{ transport, clock, log, namespace, slices: this.#sources.slices },
      className: settings.className,
      knownServices: projects.flatMap(({ loadBalancers }) => servicesOfCluster(loadBalancers, settings.cluster)),
      tell: ({ metadata: { namespace, name, uid } }, event) =>
        events.record({ regarding: { apiVersion: 'v1', kind: 'Service', namespace, name, uid }, ...event }),
    })
    const common = { cluster: this.#cluster, clock, log }
    this.#namespaces = new NamespaceReflector({ transport, clock, log, labels: labelsOfRules(rules) })
    const ofKinds = {
      ...{ transport, events, clock, log, projects, rules, labels: this.#namespaces, cluster: settings.cluster },
      ...{ namespaces, ...this.#sources },
    }
    this.#gateways = balancedGateways({ ...ofKinds, ...this.#sourcesOfGateways })
    this.#ingresses = balancedIngresses(ofKinds)
    this.#loadBalancers = balancedLoadBalancers(ofKinds)
    this.#later = [this.#gateways, this.#ingresses, this.#loadBalancers]
    const certificatesOf = new Map(
      projects.map((opened) => [
        opened,
        new TlsCertificates({
          ...{ transport, cluster: settings.cluster, namers: ['service'], clock, log },
          service: new NativeCertificates(opened.project.sessions),
        }),
      ]),
    )
    this.#certificates = [...certificatesOf.values()]
    this.#controllers =
      rules.length === 0 && first !== undefined
        ? new ServiceController({
            ...common,
            service: first.service,
            certificates: certificatesOf.get(first)!,
            settings: { ...settings, ...whatIsItsOwn(first) },
          })
        : new TenantControllers({
            ...common,
            namespaces: this.#namespaces,
            rules,
            tenants: projects.map((opened) => ({
              project: opened.project.rule?.project ?? '',
              projectId: opened.projectId,
              service: opened.service,
              certificates: certificatesOf.get(opened)!,
              ...whatIsItsOwn(opened),
            })),
            settings,
          })
  }

  get ready(): boolean {
    return this.#controllers.ready
  }

  get counters(): ServiceControllerCounters {
    return this.#controllers.counters
  }

  get gatewayCounters(): GatewayControllerCounters {
    return this.#gateways.counters
  }

  get ingressCounters(): IngressControllerCounters {
    return this.#ingresses.counters
  }

  get loadBalancerCounters(): LoadBalancerControllerCounters {
    return this.#loadBalancers.counters
  }

  get reflectors(): readonly KindReflector[] {
    return [
      ...this.#cluster.reflectors,
      ...this.#namespaces.reflectors,
      ...this.#sources.backends.reflectors,
      ...this.#later.flatMap(({ reflectors }) => reflectors),
    ]
  }

  confirm(): void {
    this.#cluster.confirm()
    this.#namespaces.confirm()
    for (const one of this.#later) one.confirm()
  }

  start(): void {
    this.#cluster.start()
    this.#namespaces.start()
    for (const one of this.#certificates) one.start()
    this.#controllers.start()
    for (const one of this.#later) one.start()
  }

  async stop(): Promise<void> {
    for (const one of this.#later) await one.stop()
    await this.#controllers.stop()
    await Promise.all(this.#certificates.map((one) => one.stop()))
    for (const { slices, backends } of [this.#sources, this.#sourcesOfGateways])
      await Promise.all([backends.stop(), slices.reflector.close()])
    await this.#cluster.stop()
    await this.#namespaces.stop()
  }
}

const whatIsItsOwn = ({ project: { addressPools, routesOfNetwork, podWay } }: NamedProject) => ({
  defaultPools: addressPools,
  routesOfNetwork,
  podWay,
})
