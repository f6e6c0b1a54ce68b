import { LONG_TESTS } from '@spout/testkit'
import { runTempest, type TempestOutcome, type TempestTarget } from '@spout/testkit/tempest'
import { expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

const PASSWORD = 'a-password-for-tests'
const API = 'octavia_tempest_plugin.tests.api.v2.'

/** Stories of Octavia that the plugin waits for. */
const waitsFor = (story: number): string =>
  `Skipped until bug: https://storyboard.openstack.org/#!/story/${story} is resolved.`

/** What the plugin itself leaves out, with its reason. Anything else that it leaves out fails the test. */
const SKIPPED: readonly (readonly [name: string, reason: string])[] = [
  ['test_amphora.AmphoraAPITest.test_admin_log', 'Log offload tests will not work in noop mode.'],
  ...['create', 'delete', 'list', 'show', 'show_stats', 'update'].map(
    (what) => [`test_listener.ListenerAPITest.test_udp_listener_${what}`, waitsFor(2_007_979)] as const,
  ),
  ...['LC', 'RR', 'SI', 'SIP']
    .flatMap((algorithm) => [
      `MemberAPITest1.test_ipv4_UDP_${algorithm}_alt_monitor_member_create`,
      `MemberAPITest1.test_ipv4_UDP_${algorithm}_member_create`,
      `MemberAPITest2.test_UDP_${algorithm}_alt_monitor_member_show`,
      `MemberAPITest2.test_UDP_${algorithm}_alt_monitor_member_update`,
      `MemberAPITest2.test_UDP_${algorithm}_member_delete`,
      `MemberAPITest2.test_UDP_${algorithm}_member_show`,
      `MemberAPITest2.test_UDP_${algorithm}_member_update`,
    ])
    .map((name) => [`test_member.${name}`, waitsFor(2_003_329)] as const),
]

/** A run of all cases takes two minutes; by default it is every kind of object, and the cases of one pool protocol. */
const PATTERN = LONG_TESTS
  ? `^${API.replaceAll('.', '[.]')}`
  : `^${API.replaceAll('.', '[.]')}(?!test_(member|healthmonitor|pool)[.].*_(HTTPS|PROXY|PROXYV2|SCTP|UDP|TCP)_)`

/** The plugin's types of roles, each with a policy set that has them; where runs must be short, one of them. */
const MODES: readonly (readonly [rbac: TempestTarget['rbac'], policySet: string])[] = [
  ['owner_or_admin', 'keystone-and-advanced-roles'],
  ...(LONG_TESTS ? [['advanced', 'advanced-roles'] as const] : []),
]

/**
 * Octavia's own acceptance tests, unmodified, against `octavia.noop`: their identity, networks and roles are ours. None
 * of them may fail.
 */
test.each(MODES)('octavia-tempest-plugin, roles %s, policy set %s', { timeout: 1_800_000 }, async (rbac, policySet) => {
  await using controlPlane = await ControlPlaneProcess.start([
    `admin.password=${PASSWORD}`,
    'octavia.noop=true',
    `octavia.policySet=${policySet}`,
    'limits.requestsPerSecond=100000',
    'limits.requestBurst=1000000',
    'limits.strangerRequestsPerSecond=10000',
  ])
  const outcomes = await runTempest(
    {
      identityUrl: `${controlPlane.address}/identity/v3`,
      admin: { user: 'admin', password: PASSWORD, project: 'admin' },
      rbac,
    },
    PATTERN,
  )
  const of = (result: TempestOutcome['result']) =>
    [...outcomes].filter(([, one]) => one.result === result).map(([name, one]) => [name.replace(API, ''), one.reason])
  expect(of('FAILED')).toEqual([])
  const asked = new RegExp(PATTERN)
  expect(of('SKIPPED').toSorted()).toEqual(SKIPPED.filter(([name]) => asked.test(API + name)).toSorted())
  expect(of('ok').length).toBeGreaterThan(LONG_TESTS ? 500 : 150)
})
