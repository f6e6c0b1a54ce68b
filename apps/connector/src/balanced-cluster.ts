import {
  BackendServices,
  type KindReflector,
  labelsOfRules,
  NamespaceReflector,
  type ProjectRule,
  ServiceSlices,
} from '@spout/connector'
import type { GatewayControllerCounters } from '@spout/intent-gateway'
import type { IngressControllerCounters } from '@spout/intent-ingress'
import type { LoadBalancerControllerCounters } from '@spout/intent-load-balancer'
import {
  KubeCluster,
  type OwnSettings,
  type ServiceControllerCounters,
  type ServiceControllerSettings,
  ServiceControllers,
  servicesOfCluster,
} from '@spout/intent-service'
import { type EventRecorder, eventsOfKind, SERVICES, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import { balancedGateways } from './balanced-gateways.ts'
import { balancedIngresses } from './balanced-ingresses.ts'
import { type BalancedKind, onlyNamespace, tenantsOf } from './balanced-kind.ts'
import { balancedLoadBalancers } from './balanced-load-balancers.ts'
import type { OpenedProject } from './opened-project.ts'

/** The settings that the projects of a cluster share. */
type ClusterSettings = Omit<ServiceControllerSettings, keyof OwnSettings> & {
  /** The managers whose EndpointSlices count; empty for all. */
  readonly slicesBy: readonly string[]
}

export interface BalancedClusterOptions {
  readonly transport: Transport
  readonly events: EventRecorder
  readonly settings: ClusterSettings
  /** The projects whose control plane answered. */
  readonly projects: readonly OpenedProject[]
  /**
   * The rules of all projects, also of those whose control plane did not answer; empty when all namespaces belong to
   * one project.
   */
  readonly rules: readonly ProjectRule[]
  readonly clock: Clock
  readonly log: Logger
}

/** Services with their EndpointSlices. */
interface Sources {
  readonly slices: ServiceSlices
  readonly backends: BackendServices
}

/** The cluster's objects in memory, and the controllers that keep the projects' load balancers as these ask. */
export class BalancedCluster {
  readonly #cluster: KubeCluster
  /**
   * Services and EndpointSlices for all kinds whose routes send requests to them. Gateways may name Services of any
   * namespace.
   */
  readonly #sources: Sources
  readonly #sourcesOfGateways: Sources
  readonly #namespaces: NamespaceReflector
  readonly #controllers: ServiceControllers
  readonly #gateways: BalancedKind<GatewayControllerCounters>
  readonly #ingresses: BalancedKind<IngressControllerCounters>
  readonly #loadBalancers: BalancedKind<LoadBalancerControllerCounters>
  /** The kinds that start once the cluster has them. */
  readonly #later: readonly BalancedKind<unknown>[]

  constructor({ transport, events, settings, projects, rules, clock, log }: BalancedClusterOptions) {
    const { namespaces, page = null } = settings
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
      tell: eventsOfKind(events, SERVICES),
    })
    this.#namespaces = new NamespaceReflector({ transport, clock, log, labels: labelsOfRules(rules) })
    const ofKinds = {
      ...{ transport, events, clock, log, projects, rules, labels: this.#namespaces, cluster: settings.cluster },
      ...{ namespaces, page, ...this.#sources },
    }
    this.#gateways = balancedGateways({ ...ofKinds, ...this.#sourcesOfGateways })
    this.#ingresses = balancedIngresses(ofKinds)
    this.#loadBalancers = balancedLoadBalancers(ofKinds)
    this.#later = [this.#gateways, this.#ingresses, this.#loadBalancers]
    this.#controllers = new ServiceControllers({
      ...{ cluster: this.#cluster, namespaces: this.#namespaces, rules, settings, clock, log },
      tenants: tenantsOf('service', ofKinds).map(({ configured: { routesOfNetwork, podWay }, ...tenant }) => ({
        ...{ ...tenant, routesOfNetwork, podWay },
      })),
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
    this.#controllers.start()
    for (const one of this.#later) one.start()
  }

  async stop(): Promise<void> {
    for (const one of this.#later) await one.stop()
    await this.#controllers.stop()
    for (const { slices, backends } of [this.#sources, this.#sourcesOfGateways])
      await Promise.all([backends.stop(), slices.reflector.close()])
    await this.#cluster.stop()
    await this.#namespaces.stop()
  }
}
