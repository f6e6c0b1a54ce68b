/** One tenant of the demo: its commands for the OpenStack client, and the expected results. */
export interface DemoTenant {
  /** The lab's segment: `tenant-a`. */
  readonly segment: string
  readonly project: string
  readonly user: string
  readonly password: string
  readonly loadBalancer: string
  readonly what: string
  /** Return path of its network. */
  readonly returnPath: 'gateway' | 'snat'
  /** Arguments of `openstack`, one command per line. */
  readonly commands: readonly string[]
}

const member = (pool: string, index: number): string =>
  `loadbalancer member create --name member${index} --address 10.0.0.${10 + index} --protocol-port 8080 --wait ${pool}`

/** Both use the addresses 10.0.0.11 and 10.0.0.12 for their members. */
export const DEMO_TENANTS: readonly DemoTenant[] = [
  {
    segment: 'tenant-a',
    project: 'acme',
    user: 'alice',
    password: 'alice-in-the-lab',
    loadBalancer: 'shop',
    what: 'L4 TCP, client addresses kept',
    returnPath: 'gateway',
    commands: [
      'loadbalancer create --name shop --vip-network-id public --wait',
      'loadbalancer listener create --name shop-tcp --protocol TCP --protocol-port 80 --wait shop',
      'loadbalancer pool create --name shop-pool --protocol TCP --lb-algorithm ROUND_ROBIN --listener shop-tcp --wait',
      member('shop-pool', 1),
      member('shop-pool', 2),
      'loadbalancer healthmonitor create --name shop-check --type TCP --delay 1 --timeout 1 --max-retries 1 --max-retries-down 1 --wait shop-pool',
    ],
  },
  {
    segment: 'tenant-b',
    project: 'bolt',
    user: 'bob',
    password: 'bob-in-the-lab',
    loadBalancer: 'blog',
    what: 'HTTP with X-Forwarded-For',
    returnPath: 'snat',
    commands: [
      'loadbalancer create --name blog --vip-network-id public --wait',
      'loadbalancer listener create --name blog-http --protocol HTTP --protocol-port 80 --insert-headers X-Forwarded-For=true --wait blog',
      'loadbalancer pool create --name blog-pool --protocol HTTP --lb-algorithm ROUND_ROBIN --listener blog-http --wait',
      member('blog-pool', 1),
      member('blog-pool', 2),
      'loadbalancer healthmonitor create --name blog-check --type HTTP --delay 1 --timeout 1 --max-retries 1 --max-retries-down 1 --url-path / --wait blog-pool',
    ],
  },
]
