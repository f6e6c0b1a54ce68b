import type { ShownLoadBalancer, Tenant } from '@spout/testkit'

/** Objects that exist before the bad requests. */
export interface Known {
  readonly adminToken: string
  readonly acme: Tenant
  readonly bolt: Tenant
  /** An address pool of two addresses, both in use. */
  readonly fullPool: string
  readonly pool: string
  /** A load balancer of acme, at 192.0.2.10. */
  readonly own: ShownLoadBalancer
  /** A load balancer of bolt, at 192.0.2.11. */
  readonly foreign: ShownLoadBalancer
  /** An expired token of acme. */
  readonly expiredToken: string
}

export const NOBODY = '00000000-0000-4000-8000-000000000000'

/** A request that must be refused with a message and must change nothing. */
export interface Bad {
  readonly what: string
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET'
  readonly path: (known: Known) => string
  /** A string is sent as it is. */
  readonly body?: (known: Known) => unknown
  /** The token of acme by default. */
  readonly token?: (known: Known) => string
  readonly status: number
  /** Parts of the answer: the field, and the reason. */
  readonly says: readonly (string | RegExp)[]
}

/** Forbidden member addresses. */
export const FORBIDDEN_MEMBERS: readonly (readonly [address: string, why: RegExp])[] = [
  ['127.0.0.1', /loopback/],
  ['::1', /loopback/],
  ['169.254.169.254', /metadata/],
  ['fd00:ec2::254', /metadata/],
  ['169.254.7.7', /link-local/],
  ['fe80::1', /link-local/],
  ['224.0.0.5', /multicast/],
  ['ff02::1', /multicast/],
  ['0.0.0.0', /unspecified/],
  ['255.255.255.255', /reserved or broadcast/],
  ['::ffff:127.0.0.1', /./],
  ['::127.0.0.1', /IPv4-compatible/],
  ['::a00:b', /IPv4-compatible/],
  ['64:ff9b::7f00:1', /NAT64/],
  ['64:ff9b:1::a9fe:a9fe', /NAT64/],
  ['2002:7f00:1::1', /6to4/],
  ['2001:0:7f00:1::', /Teredo/],
  ['fec0::1', /site-local/],
  ['0177.0.0.1', /./],
  ['2130706433', /./],
  ['0x7f.0.0.1', /./],
  ['127.1', /./],
  ['198.18.0.1', /management/],
  ['198.51.100.2', /management/],
  ['192.0.2.11', /the address of a load balancer/],
  ['192.0.2.10', /the address of (a|this) load balancer/],
  ['10.0.0.1', /gateway/],
]

/** Reads of ids that no client can mean; each surface has its own message. */
export const oddIds = (collection: string, says: Bad['says']): readonly Bad[] =>
  ['a'.repeat(300), '%', '%zz', '%c3'].map((id) => ({
    what: `${collection}: an id that is none, ${id.slice(0, 8)}`,
    method: 'GET',
    path: () => `${collection}/${id}`,
    status: 404,
    says,
  }))
