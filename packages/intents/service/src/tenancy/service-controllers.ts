import { NO_LOAD_BALANCERS, ProjectControllers, type ProjectsOptions, type ProjectTenant } from '@spout/connector'
import type { Clock } from '@spout/runtime'
import type { ServiceControllerSettings } from '../controller/context.ts'
import { ServiceController, type ServiceControllerCounters } from '../controller/service-controller.ts'
import { type ClaimingCluster, ProjectCluster } from './project-cluster.ts'
import { tenantServices } from './tenant-services.ts'

/** Settings of a controller that differ between projects. */
export type OwnSettings = Pick<ServiceControllerSettings, 'defaultPools' | 'routesOfNetwork' | 'podWay'>

export interface ServiceTenant extends ProjectTenant, OwnSettings {}

export interface ServiceControllersOptions extends ProjectsOptions<ServiceTenant> {
  readonly cluster: ClaimingCluster
  readonly settings: Omit<ServiceControllerSettings, keyof OwnSettings>
  readonly clock: Clock
}

/**
 * One controller for each project, and one that refuses Services without a project. They share the cluster, but no
 * Service.
 */
export class ServiceControllers extends ProjectControllers<ServiceTenant, ServiceControllerCounters> {
  constructor({ cluster, settings, clock, ...projects }: ServiceControllersOptions) {
    super({
      ...projects,
      objects: tenantServices(cluster, settings),
      controllerOf: ({ project, service, certificates, ...tenant }, tenancy, log) => {
        const { defaultPools, routesOfNetwork, podWay } = tenant
        const own = { defaultPools, routesOfNetwork, ...(podWay === undefined ? {} : { podWay }) }
        return new ServiceController({
          cluster: tenancy === null ? cluster : new ProjectCluster(tenancy, cluster, project),
          ...{ service, certificates, clock, log, settings: { ...settings, ...own } },
        })
      },
      controllerOfNobody: (tenancy, log) =>
        new ServiceController({
          cluster: new ProjectCluster(tenancy, cluster, null),
          ...{ service: NO_LOAD_BALANCERS, clock, log },
          settings: { ...settings, defaultPools: [], routesOfNetwork: null },
        }),
      zero: { services: 0, loadBalancers: 0, refused: 0, queued: 0, statusWrites: 0 },
    })
  }
}
