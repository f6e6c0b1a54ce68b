import { ProjectControllers, type ProjectsOptions, type ProjectTenant } from '@spout/connector'
import type { Clock } from '@spout/runtime'
import { GatewayController, type GatewayControllerCounters } from '../controller/gateway-controller.ts'
import type { GatewayControllerSettings } from '../controller/options.ts'
import { type ClaimingCluster, ProjectCluster } from './project-cluster.ts'
import { tenantGateways } from './tenant-gateways.ts'

export interface GatewayControllersOptions extends ProjectsOptions {
  readonly cluster: ClaimingCluster
  readonly settings: Omit<GatewayControllerSettings, 'defaultPools'>
  readonly clock: Clock
}

/**
 * A controller for each project, over one cluster. Every controller sees all routes, but only the Gateways of its
 * project.
 */
export class GatewayControllers extends ProjectControllers<ProjectTenant, GatewayControllerCounters> {
  constructor({ cluster, settings, clock, ...projects }: GatewayControllersOptions) {
    super({
      ...projects,
      objects: tenantGateways(cluster),
      controllerOf: ({ project, service, certificates, defaultPools }, tenancy, log) =>
        new GatewayController({
          cluster: tenancy === null ? cluster : new ProjectCluster(tenancy, cluster, project),
          ...{ service, certificates, clock, log, settings: { ...settings, defaultPools } },
        }),
      zero: { gateways: 0, loadBalancers: 0, routes: 0, queued: 0, statusWrites: 0 },
      shared: ['routes'],
    })
  }
}
