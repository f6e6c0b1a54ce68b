import { LONG_TESTS } from '@spout/testkit'
import { runTempest, type TempestOutcome, type TempestTarget } from '@spout/testkit/tempest'
import { apiCases, askedFor, casesWith, LEFT_OUT, type NamedCase } from '@spout/testkit/tempest-cases'
import { expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

const PASSWORD = 'a-password-for-tests'

/** Cases that the plugin itself skips, with its reason. Any other skipped case fails the test. */
const SKIPPED: readonly NamedCase[] = [
  ['test_amphora.AmphoraAPITest.test_admin_log', 'Log offload tests will not work in noop mode.'],
  ...LEFT_OUT,
]

/** Why a server cannot pass a case under a type of roles. */
const FAILING: Readonly<Record<TempestTarget['rbac'], (name: string) => string | null>> = {
  owner_or_admin: () => null,
  advanced: () => null,
  keystone_default_roles: (name) =>
    /^test_(flavor|availability_zone)[.].*_(list|delete)$/.test(name)
      ? 'expects that `load-balancer_admin` may not read what it then reads'
      : /^test_(healthmonitor|l7policy|listener|load_balancer|pool)[.].*_list$/.test(name)
        ? 'expects that an `admin` sees nothing of another project in a list, and the same objects by their ids'
        : null,
}

/** The cases that run for a type of roles, and the policy set that has these roles. All cases take some minutes. */
const MODES: readonly (readonly [rbac: TempestTarget['rbac'], policySet: string, pattern: string])[] = [
  // Every kind of object, and the cases of one pool protocol and one algorithm.
  [
    'owner_or_admin',
    'keystone-and-advanced-roles',
    '(?!test_(member|healthmonitor|pool)[.].*_(HTTPS|PROXY|PROXYV2|SCTP|UDP|TCP|LC|SI|SIP)_)',
  ],
  ['advanced', 'advanced-roles', 'test_(flavor|load_balancer)[.]'],
  ['keystone_default_roles', 'keystone-default-roles', 'test_(flavor|load_balancer)[.]'],
]

/**
 * Octavia's own acceptance tests, unmodified, against `octavia.noop`: their identity, networks and roles are ours. A
 * case that fails without a reason above, or passes with one, fails the test.
 */
test.each(MODES)(
  'octavia-tempest-plugin, roles %s, policy set %s',
  { timeout: 1_800_000 },
  async (rbac, policySet, some) => {
    const pattern = apiCases(LONG_TESTS ? '' : some)
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
      pattern,
    )
    const called = (result: TempestOutcome['result']) => casesWith(result, outcomes).map(([name]) => name)
    const ran = [...called('FAILED'), ...called('ok')]
    expect(called('FAILED')).toEqual(ran.filter((name) => FAILING[rbac](name) !== null).toSorted())
    expect(casesWith('SKIPPED', outcomes)).toEqual(askedFor(pattern, SKIPPED))
    expect(ran.length).toBeGreaterThan(LONG_TESTS ? 500 : 14)
  },
)
