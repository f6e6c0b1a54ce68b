/** The label of namespaces that belong to tenants, in a cluster of the provider that tenants write to. */
export const TENANT_LABEL = 'spout.dev/tenant'

/**
 * Annotations with which the provider grants things to a tenant's namespace: lists with commas. Without one: nothing.
 */
export const GIVEN = {
  /** Host names: exact ones, and wildcards such as `*.example.com` for all names below. */
  domains: 'spout.dev/domains',
  /** Names of IngressClasses, GatewayClasses, load-balancer classes of Services and `LoadBalancerClass`. */
  classes: 'spout.dev/classes',
  /** Ports, and ranges such as `8000-8999`. */
  ports: 'spout.dev/ports',
  /** Prefixes that may contain members. */
  networks: 'spout.dev/networks',
} as const
