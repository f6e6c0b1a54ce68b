import { LONG_TESTS } from '@spout/testkit'
import { runTempest, type TempestTarget } from '@spout/testkit/tempest'
import { apiCases, askedFor, casesWith, LEFT_OUT, type NamedCase } from '@spout/testkit/tempest-cases'
import { expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

const PASSWORD = 'a-password-for-tests'

/** What the plugin itself leaves out, with its reason. Anything else that it leaves out fails the test. */
const SKIPPED: readonly NamedCase[] = [
  ['test_amphora.AmphoraAPITest.test_admin_log', 'Log offload tests will not work in noop mode.'],
  ...LEFT_OUT,
]

/** A run of all cases takes two minutes; by default it is every kind of object, and the cases of one pool protocol. */
const PATTERN = apiCases(
  LONG_TESTS ? '' : '(?!test_(member|healthmonitor|pool)[.].*_(HTTPS|PROXY|PROXYV2|SCTP|UDP|TCP)_)',
)

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
  expect(casesWith('FAILED', outcomes)).toEqual([])
  expect(casesWith('SKIPPED', outcomes)).toEqual(askedFor(PATTERN, SKIPPED))
  expect(casesWith('ok', outcomes).length).toBeGreaterThan(LONG_TESTS ? 500 : 150)
})
