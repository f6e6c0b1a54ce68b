import { ProjectControllers, type ProjectsOptions, type ProjectTenant } from '@spout/connector'
import type { Clock } from '@spout/runtime'
import type { Cluster } from '../controller/cluster.ts'
import type { IngressControllerSettings } from '../controller/context.ts'
import { IngressController, type IngressControllerCounters } from '../controller/ingress-controller.ts'
import { ProjectCluster } from './project-cluster.ts'
import { tenantIngresses } from './tenant-ingresses.ts'

export interface IngressControllersOptions extends ProjectsOptions {
  readonly cluster: Cluster
  readonly settings: Omit<IngressControllerSettings, 'defaultPools'>
  readonly clock: Clock
}

/** A controller for each project, over one cluster. Each Ingress belongs to one of them. */
export class IngressControllers extends ProjectControllers<ProjectTenant, IngressControllerCounters> {
  constructor({ cluster, settings, clock, ...projects }: IngressControllersOptions) {
    super({
      ...projects,
      objects: tenantIngresses(cluster),
      controllerOf: ({ project, service, certificates, defaultPools }, tenancy, log) =>
        new IngressController({
          cluster: tenancy === null ? cluster : new ProjectCluster(tenancy, cluster, project),
          ...{ service, certificates, clock, log, settings: { ...settings, defaultPools } },
        }),
      zero: { ingresses: 0, loadBalancers: 0, refused: 0, queued: 0, statusWrites: 0 },
    })
  }
}
