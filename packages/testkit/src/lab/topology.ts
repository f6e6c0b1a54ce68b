/**
 * The lab as data: places, switches and links. Addresses are from documentation and benchmark ranges; both tenants use
 * the same ones on purpose.
 */
export interface PlaceSpec {
  readonly name: string
  readonly what: string
  readonly links: readonly LinkSpec[]
  readonly routes: readonly string[]
  readonly sysctls: readonly string[]
}

export interface LinkSpec {
  /** Interface name inside the place. */
  readonly name: string
  /** The switch that it is connected to. */
  readonly segment: string
  readonly addresses: readonly string[]
}

export const TENANTS = ['tenant-a', 'tenant-b'] as const
export const NODES = ['node1', 'node2'] as const

/** Bridges inside the `fabric` place. `mgmt` also reaches the host, where the control plane listens. */
export const SEGMENTS = ['fabric', 'client', 'mgmt', 'tenant-a', 'tenant-b'] as const

export const FABRIC = {
  cidr: '198.51.100.0/24',
  gateway: '198.51.100.1',
  cidr6: '2001:db8:f::/64',
  gateway6: '2001:db8:f::1',
} as const
/** Public addresses for load balancers. */
export const PUBLIC_RANGE = { first: '198.51.100.16', last: '198.51.100.250' } as const
export const PUBLIC_RANGE6 = { first: '2001:db8:f::100', last: '2001:db8:f::ffff' } as const
export const TENANT_SUBNET = {
  cidr: '10.0.0.0/24',
  gateway: '10.0.0.1',
  cidr6: 'fd10::/64',
  gateway6: 'fd10::1',
} as const

const FORWARDING = ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']

/** Management address of the host end in lab number `n` (0 to 255). */
export const hostAddress = (n: number): string => `198.18.${n}.1`
export const nodeManagementAddress = (n: number, index: number): string => `198.18.${n}.${11 + index}`
export const memberAddress = (index: number): string => `10.0.0.${11 + index}`

const memberPlace = (tenant: string, index: number): PlaceSpec => ({
  name: `${tenant}-member${index + 1}`,
  what: `member ${index + 1} of ${tenant}, ${memberAddress(index)}: HTTP 8080, TCP echo 9000, UDP echo 9001`,
  links: [{ name: 'eth0', segment: tenant, addresses: [`${memberAddress(index)}/24`, `fd10::${11 + index}/64`] }],
  // The gateway is an address of the load-balancer nodes; with return path `snat` nothing is sent there.
  routes: ['default via 10.0.0.1', 'default via fd10::1'],
  sysctls: [],
})

/** All places of lab number `n`, except the switch itself. */
export const places = (n: number): readonly PlaceSpec[] => [
  {
    name: 'router',
    what: 'router between the clients and the fabric',
    links: [
      { name: 'fab0', segment: 'fabric', addresses: ['198.51.100.1/24', '2001:db8:f::1/64'] },
      { name: 'cl0', segment: 'client', addresses: ['203.0.113.1/24', '2001:db8:c::1/64'] },
    ],
    routes: [],
    sysctls: FORWARDING,
  },
  {
    name: 'client',
    what: 'somebody on the internet, 203.0.113.10',
    links: [{ name: 'eth0', segment: 'client', addresses: ['203.0.113.10/24', '2001:db8:c::10/64'] }],
    routes: ['default via 203.0.113.1', 'default via 2001:db8:c::1'],
    sysctls: [],
  },
  ...NODES.map(
    (name, index): PlaceSpec => ({
      name,
      what: `load-balancer node ${index + 1}`,
      links: [
        { name: 'fab0', segment: 'fabric', addresses: [`198.51.100.${2 + index}/24`, `2001:db8:f::${2 + index}/64`] },
        { name: 'mgmt0', segment: 'mgmt', addresses: [`${nodeManagementAddress(n, index)}/24`] },
        ...TENANTS.map((tenant) => ({ name: `seg-${tenant.at(-1)}`, segment: tenant, addresses: [] })),
      ],
      routes: ['default via 198.51.100.1', 'default via 2001:db8:f::1'],
      sysctls: FORWARDING,
    }),
  ),
  ...TENANTS.flatMap((tenant) => [0, 1].map((index) => memberPlace(tenant, index))),
]
