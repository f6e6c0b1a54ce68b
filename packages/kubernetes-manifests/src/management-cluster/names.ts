/** Namespaces with this label are of tenants who write into the provider's cluster. */
export const TENANT_LABEL = 'spout.dev/tenant'

/** What the provider gives a tenant's namespace, as annotations with values between commas. Without one: nothing. */
export const GIVEN = {
  /** Host names: exact ones, and with `*.` all below a name. */
  domains: 'spout.dev/domains',
  /** Names of IngressClasses, GatewayClasses, load-balancer classes of Services and `LoadBalancerClass`. */
  classes: 'spout.dev/classes',
  /** Ports, and ranges such as `8000-8999`. */
  ports: 'spout.dev/ports',
  /** Prefixes that members may be in. */
  networks: 'spout.dev/networks',
} as const
