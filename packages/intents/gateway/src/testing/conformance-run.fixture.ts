import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { GatewayConformance, KubernetesCluster } from '@spout/testkit'
import { parse, stringify } from 'yaml'

const ROOT = path.resolve(import.meta.dirname, '../../../../..')

/** The results of one kind of tests, as a conformance report has them. */
interface Outcome {
  readonly result: 'success' | 'partial' | 'failure'
  readonly failedTests?: readonly string[]
  readonly statistics: { readonly Passed: number; readonly Failed: number; readonly Skipped: number }
}

/** The parts of a conformance report (`gateway.networking.k8s.io/v1`, `ConformanceReport`) that tests look at. */
export interface ConformanceReport {
  readonly profiles: readonly { readonly name: string; readonly core: Outcome; readonly extended: Outcome }[]
}

export interface ConformanceOptions {
  readonly profiles: readonly string[]
  readonly skipTests: readonly string[]
  /** The only test to run. Absent: all. */
  readonly runTest?: string | undefined
  /** The features to test, whatever the class reports. Absent: those that the class reports. */
  readonly features?: readonly string[]
  /** For the tests of static addresses: one that a Gateway may have, and one that it may not. */
  readonly addresses: { readonly usable: string; readonly unusable: string }
}

export interface ConformanceRun {
  readonly text: string
  readonly report: ConformanceReport
  readonly failed: readonly string[]
  readonly log: string
}

/** Longer than a run with the time-outs below can take. */
const LONGEST_MS = 15 * 60_000
/**
 * In seconds. Conditions are written within one here; the suite's own defaults of up to five minutes are for clouds.
 */
const TIMEOUTS = {
  GatewayMustHaveAddress: 60,
  GatewayMustHaveCondition: 60,
  GWCMustBeAccepted: 60,
  NamespacesMustBeReady: 120,
}

/**
 * Runs the conformance suite, unmodified, against Gateways of class `spout`. It tests the features that the class
 * reports as supported.
 * @param place that reaches the API server and the addresses of Gateways
 * @returns the report as the suite wrote it, but for the order of profiles, which changes from run to run; and the
 * tests that failed, some of which the report counts as passed: it is written before those that run beside others have
 * ended
 * @throws Error with the end of the log when it wrote none
 */
export async function runConformance(
  { lab, kubeconfigFile }: KubernetesCluster,
  place: string,
  { suite }: GatewayConformance,
  { profiles, skipTests, runTest = '', features = [], addresses }: ConformanceOptions,
): Promise<ConformanceRun> {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
  const file = path.join(lab.directory, 'conformance.yaml')
  const flags = {
    'test.v': 'true',
    // Those that may run beside others wait for nodes and pods most of the time.
    'test.parallel': '4',
    'gateway-class': 'spout',
    'conformance-profiles': profiles.join(),
    'skip-tests': skipTests.join(),
    'run-test': runTest,
    'supported-features': features.join(),
    'usable-address': addresses.usable,
    'unusable-address': addresses.unusable,
    'timeout-config-overrides': Object.entries(TIMEOUTS)
      .map((pair) => pair.join(':'))
      .join(';'),
    // The namespaces go with the cluster.
    'cleanup-base-resources': 'false',
    'report-output': file,
    organization: 'spout',
    project: 'spout',
    url: 'https://spout.dev',
    contact: 'https://spout.dev',
    version,
  }
  const argv = [suite, ...Object.entries(flags).map(([name, value]) => `-${name}=${value}`)]
  const { stdout, stderr } = await lab.run(place, argv, { timeoutMs: LONGEST_MS, env: { KUBECONFIG: kubeconfigFile } })
  try {
    const written = parse(readFileSync(file, 'utf8')) as ConformanceReport
    const report = { ...written, profiles: written.profiles.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
    return { text: stringify(report), report, failed: failedIn(stdout), log: stdout }
  } catch (error) {
    throw new Error(`no report: ${`${stdout}\n${stderr}`.slice(-4000)}`, { cause: error })
  }
}

/** Names of tests without those below them. */
const failedIn = (log: string): readonly string[] =>
  [...log.matchAll(/^ {4}--- FAIL: TestConformance\/(\S+)/gm)].map(([, name]) => name!)

/** The suite's output for a failed test, without its subtests that passed. */
export const failuresIn = (log: string): readonly string[] =>
  log.split('\n').filter((line) => /^ *--- FAIL|not ready yet|Error: {6}|Messages: /.test(line))
