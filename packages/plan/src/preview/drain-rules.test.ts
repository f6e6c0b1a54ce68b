import { LISTENER_PROTOCOLS } from '@spout/model/protocols'
import { expect, test } from 'vitest'
import { drainFates } from './drain-fates.ts'
import { type DrainRule, drainRuleOf } from './drain-rules.ts'

const around = { returnPath: 'snat', isReplicated: true, elects: true, secondChanceSeconds: 300 } as const

test.each<[string, Partial<Parameters<typeof drainRuleOf>[1]>, Partial<Record<string, DrainRule>>]>([
  ['snat', {}, { tcp: 'Replicated', udp: 'Replicated', sctp: 'Associations' }],
  ['snat without replicated flows', { isReplicated: false }, { tcp: 'LedBack', udp: 'OnlyHere', sctp: 'Associations' }],
  [
    'snat without replicated flows, where the planner chooses owners',
    { isReplicated: false, elects: false },
    { tcp: 'LedBackInTime', udp: 'OnlyHere', sctp: 'Associations' },
  ],
  ['gateway', { returnPath: 'gateway' }, { tcp: 'ThroughGateway', udp: 'ThroughGateway', sctp: 'Associations' }],
  ['dsr', { returnPath: 'dsr' }, { tcp: 'NoState', udp: 'NoState', sctp: 'NoState' }],
  ['node', { returnPath: 'node' }, { tcp: 'ByMember', udp: 'ByMember', sctp: 'ByMember' }],
])('connections of the packet path with return path %s; proxied ones are given time', (_path, given, rules) => {
  for (const protocol of LISTENER_PROTOCOLS)
    expect([protocol, drainRuleOf({ protocol }, { ...around, ...given })]).toEqual([
      protocol,
      rules[protocol] ?? 'Proxied',
    ])
})

test('nothing stays where the group gives no second chance and nodes do not elect owners', () => {
  const given = { ...around, isReplicated: false, elects: false, secondChanceSeconds: 0 }
  expect(drainRuleOf({ protocol: 'tcp' }, given)).toBe('OnlyHere')
})

test('the worst come first, each with how many load balancers have such connections', () => {
  const leaving = [
    {
      services: [{ protocol: 'http' }, { protocol: 'https' }, { protocol: 'tcp' }],
      returnPath: 'snat',
      isShared: true,
    },
    { services: [{ protocol: 'http' }], returnPath: 'dsr', isShared: false },
    { services: [{ protocol: 'tcp' }], returnPath: 'snat', isShared: false },
    { services: [], returnPath: 'snat', isShared: true },
  ] as const
  const told = (seconds: number) =>
    drainFates(leaving, { replicates: true, elects: true, secondChanceSeconds: seconds }).map((one) => [
      ...[one.fate, one.code, one.afterSeconds, one.loadBalancers],
    ])
  expect(told(300)).toEqual([
    ['drain', 'Proxied', 300, 2],
    ['stay', 'Replicated', null, 1],
    ['stay', 'LedBack', null, 1],
  ])
  expect(told(0)[0]).toEqual(['end', 'ProxiedAtOnce', null, 2])
})
