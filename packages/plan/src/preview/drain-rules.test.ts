import { LISTENER_PROTOCOLS } from '@spout/model/protocols'
import { expect, test } from 'vitest'
import { drainFates } from './drain-fates.ts'
import { type DrainRule, drainRuleOf } from './drain-rules.ts'

const around = { returnPath: 'snat', isReplicated: true, secondChanceSeconds: 300 } as const

test.each<[string, Partial<Parameters<typeof drainRuleOf>[1]>, Partial<Record<string, DrainRule>>]>([
  ['snat', {}, { tcp: 'Replicated', udp: 'Replicated', sctp: 'Associations' }],
  [
    'snat without replicated flows',
    { isReplicated: false },
    { tcp: 'OnlyHere', udp: 'OnlyHere', sctp: 'Associations' },
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

test('the worst come first, each with how many load balancers have such connections', () => {
  const leaving = [
    { services: [{ protocol: 'http' }, { protocol: 'https' }, { protocol: 'tcp' }], returnPath: 'snat' },
    { services: [{ protocol: 'http' }], returnPath: 'dsr' },
    { services: [], returnPath: 'snat' },
  ] as const
  const told = (seconds: number) =>
    drainFates(leaving, { ...around, secondChanceSeconds: seconds }).map((one) => [
      ...[one.fate, one.code, one.afterSeconds, one.loadBalancers],
    ])
  expect(told(300)).toEqual([
    ['drain', 'Proxied', 300, 2],
    ['stay', 'Replicated', null, 1],
  ])
  expect(told(0)[0]).toEqual(['end', 'ProxiedAtOnce', null, 2])
})
