import { stableUuid } from './role-names.ts'

/** A service of the catalog. `path` is appended to the server's address. */
export interface CatalogService {
  readonly type: string
  readonly name: string
  readonly path: string
}

/**
 * The catalog. The addresses of load-balancer and network have no version: gophercloud appends `v2.0/` to what
 * discovery returns. Nobody calls compute, but some clients refuse to start without it.
 */
export const SERVICES: readonly CatalogService[] = [
  { type: 'identity', name: 'keystone', path: '/identity' },
  { type: 'load-balancer', name: 'octavia', path: '/load-balancer' },
  { type: 'network', name: 'neutron', path: '/network' },
  { type: 'key-manager', name: 'barbican', path: '/key-manager' },
  { type: 'compute', name: 'nova', path: '/compute/v2.1' },
]

const INTERFACES = ['public', 'internal', 'admin'] as const

export const serviceId = (service: CatalogService): string => stableUuid(`service/${service.type}`)

export function catalog(services: readonly CatalogService[], base: string, region: string) {
  return services.map((service) => ({
    id: serviceId(service),
    type: service.type,
    name: service.name,
    endpoints: endpointsOf(service, base, region).map(({ service_id: _, enabled: __, ...endpoint }) => endpoint),
  }))
}

export const endpointsOf = (service: CatalogService, base: string, region: string) =>
  INTERFACES.map((side) => ({
    id: stableUuid(`endpoint/${service.type}/${side}`),
    interface: side,
    region,
    region_id: region,
    url: `${base}${service.path}`,
    service_id: serviceId(service),
    enabled: true,
  }))
