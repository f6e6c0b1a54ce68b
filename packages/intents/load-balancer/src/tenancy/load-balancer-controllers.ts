import { type DocumentService, ProjectControllers, type ProjectsOptions, type ProjectTenant } from '@spout/connector'
import type { Clock } from '@spout/runtime'
import type { Cluster } from '../controller/cluster.ts'
import {
  LoadBalancerController,
  type LoadBalancerControllerCounters,
  type LoadBalancerControllerOptions,
} from '../controller/load-balancer-controller.ts'
import { ProjectCluster } from './project-cluster.ts'
import { tenantLoadBalancers } from './tenant-objects.ts'

export interface LoadBalancerTenant extends ProjectTenant {
  /** A client with a credential for this project only. */
  readonly documents: DocumentService
}

export interface LoadBalancerControllersOptions extends ProjectsOptions<LoadBalancerTenant> {
  readonly cluster: Cluster
  readonly settings: Omit<LoadBalancerControllerOptions['settings'], 'defaultPools'>
  readonly clock: Clock
}

/** One controller for each project. They share the cluster, but no object. */
export class LoadBalancerControllers extends ProjectControllers<LoadBalancerTenant, LoadBalancerControllerCounters> {
  constructor({ cluster, settings, clock, ...projects }: LoadBalancerControllersOptions) {
    super({
      ...projects,
      objects: tenantLoadBalancers(cluster),
      controllerOf: ({ project, service, documents, certificates, defaultPools }, tenancy, log) =>
        new LoadBalancerController({
          cluster: tenancy === null ? cluster : new ProjectCluster(tenancy, cluster, project),
          ...{ service, documents, certificates, clock, log, settings: { ...settings, defaultPools } },
        }),
      zero: { loadBalancers: 0, refused: 0, queued: 0 },
    })
  }
}
