import { LONG_TESTS, TestSystem } from '@spout/testkit'
import { runTempest } from '@spout/testkit/tempest'
import { apiCases, askedFor, casesWith, LEFT_OUT, type NamedCase } from '@spout/testkit/tempest-cases'
import { afterAll, beforeAll, expect, it } from 'vitest'

// Octavia's own acceptance tests, unmodified, where nodes carry the load balancers. The same in noop mode:
// apps/control-plane/src/tempest.contract.test.ts.

/** What the plugin leaves out here, with its reason. */
const SKIPPED: readonly NamedCase[] = [
  ...(LONG_TESTS
    ? []
    : [['test_load_balancer.LoadBalancerAPITest.test_load_balancer_ipv6_create', 'IPv6 testing is disabled'] as const]),
  [
    'test_amphora.AmphoraAPITest.test_admin_log',
    'Skipping log offload tests because tempest configuration [loadbalancer-feature-enabled] log_offload_enabled is False.',
  ],
  ...LEFT_OUT,
]

/** What fails, and why. One that passes has to leave the list. */
const FAILING: readonly NamedCase[] = [
  ...[
    'amphora.AmphoraAPITest.test_amphora_failover',
    'load_balancer.LoadBalancerAPITest.test_load_balancer_failover',
  ].map(
    (name): NamedCase => [
      `test_${name}`,
      'expects other amphorae after a failover; here an amphora is a node that has the load balancer, and both nodes still do',
    ],
  ),
  [
    'test_amphora.AmphoraAPITest.test_amphora_list_and_show',
    'expects a `vrrp_port_id`; nodes have no port for a load balancer',
  ],
]

/**
 * All cases take half an hour, for two thirds of which tempest sleeps. By default it is load balancers, and members of
 * HTTP pools behind their listeners.
 */
const PATTERN = apiCases(
  LONG_TESTS ? '' : 'test_(load_balancer[.]LoadBalancerAPITest|member[.]MemberAPITest2[.].*_HTTP_RR_)',
)

let system: TestSystem
let zones: readonly [string, string, string]

beforeAll(async () => {
  const set = [
    'network.defaultPhysicalNetwork=tenant-a',
    'limits.requestsPerSecond=100000',
    'limits.requestBurst=1000000',
    'limits.strangerRequestsPerSecond=10000',
  ]
  system = await TestSystem.start({ tenants: [], set })
  const { admin } = system.access
  const { items } = await system.api<{ items: { name: string }[] }>(admin, 'GET', '/node-groups')
  for (const name of ['second', 'third']) await system.api(admin, 'POST', '/node-groups', { name })
  zones = [items[0]!.name, 'second', 'third']
})

afterAll(() => system?.destroy())

it('octavia-tempest-plugin where nodes carry the load balancers', { timeout: 7_200_000 }, async () => {
  const { endpoint, admin } = system.access
  const live = { cidr: '192.0.0.0/22', ipv6Cidr: LONG_TESTS ? '2001:db0::/28' : null, zones }
  const outcomes = await runTempest(
    { identityUrl: `${endpoint}/identity/v3`, admin, rbac: 'owner_or_admin', live },
    PATTERN,
  )
  const namesOf = (cases: readonly NamedCase[]) => cases.map(([name]) => name)
  expect(namesOf(casesWith('FAILED', outcomes))).toEqual(namesOf(askedFor(PATTERN, FAILING)))
  expect(casesWith('SKIPPED', outcomes)).toEqual(askedFor(PATTERN, SKIPPED))
  expect(casesWith('ok', outcomes).length).toBeGreaterThan(LONG_TESTS ? 500 : 12)
})
