import type { ShownLoadBalancer, TenantSpec } from '@spout/testkit'

/** Members reply through the load-balancer nodes: they see the client's own address. */
export const ACME: TenantSpec = {
  project: 'acme',
  user: 'alice',
  password: 'alice-in-the-lab',
  segment: 'tenant-a',
  returnPath: 'gateway',
}

/** Members see a node's address, and have the same addresses as those of the other tenant. */
export const BOLT: TenantSpec = {
  project: 'bolt',
  user: 'bob',
  password: 'bob-in-the-lab',
  segment: 'tenant-b',
  returnPath: 'snat',
}

export const CLIENT = '203.0.113.10'

/** Ports of a member of the lab. */
export const PORT = { http: 8080, tcp: 9000, udp: 9001 } as const

export const member = (index: 1 | 2, port: number, more: object = {}): object => ({
  name: `member${index}`,
  address: `10.0.0.${10 + index}`,
  port,
  ...more,
})

/** A check that notices within a fraction of a second. */
export const quickCheck = (type: 'tcp' | 'http'): object => ({
  type,
  intervalMs: 200,
  timeoutMs: 200,
  rise: 1,
  fall: 1,
})

/** One listener, one pool, both members: the body of a load balancer. */
export const balancer = (
  name: string,
  protocol: 'tcp' | 'udp' | 'http',
  {
    port = 80,
    memberPort = { tcp: PORT.tcp, udp: PORT.udp, http: PORT.http }[protocol],
    pool = {},
    listener = {},
  }: { readonly port?: number; readonly memberPort?: number; readonly pool?: object; readonly listener?: object } = {},
): object => ({
  name,
  listeners: [{ name: `${name}-listener`, protocol, port, defaultPool: `${name}-pool`, ...listener }],
  pools: [{ name: `${name}-pool`, protocol, members: [member(1, memberPort), member(2, memberPort)], ...pool }],
})

/** The first address of a load balancer; empty when it has none. */
export const vipOf = (shown: ShownLoadBalancer): string => shown.vips[0]?.address ?? ''

/** How often each occurs. */
export function tally<T>(values: Iterable<T>): ReadonlyMap<T, number> {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
