import type { TempestOutcome } from './tempest.ts'

/** How the names of all cases begin that call the Octavia API. */
export const API_CASES = 'octavia_tempest_plugin.tests.api.v2.'

/** A case by its name without `API_CASES`, and why it does not pass. */
export type NamedCase = readonly [name: string, reason: string]

/** A pattern of cases whose names, without `API_CASES`, begin as the regular expression says. */
export const apiCases = (beginning: string): string => `^${API_CASES.replaceAll('.', '[.]')}${beginning}`

/** The cases with a result, in the order of their names. */
export const casesWith = (
  result: TempestOutcome['result'],
  outcomes: ReadonlyMap<string, TempestOutcome>,
): readonly NamedCase[] =>
  [...outcomes]
    .filter(([, outcome]) => outcome.result === result)
    .map(([name, { reason }]): NamedCase => [name.replace(API_CASES, ''), reason])
    .toSorted()

/** Those that the pattern asks for, in the order of their names. */
export const askedFor = (pattern: string, cases: readonly NamedCase[]): readonly NamedCase[] =>
  cases.filter(([name]) => new RegExp(pattern).test(API_CASES + name)).toSorted()

/** Stories of Octavia that the plugin waits for. */
const waitsFor = (story: number): string =>
  `Skipped until bug: https://storyboard.openstack.org/#!/story/${story} is resolved.`

/** What the plugin itself leaves out on any server, with its reason. */
export const LEFT_OUT: readonly NamedCase[] = [
  ...['create', 'delete', 'list', 'show', 'show_stats', 'update'].map(
    (what): NamedCase => [`test_listener.ListenerAPITest.test_udp_listener_${what}`, waitsFor(2_007_979)],
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
    .map((name): NamedCase => [`test_member.${name}`, waitsFor(2_003_329)]),
]
