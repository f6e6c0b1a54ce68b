import type { DomainEntry, FlowSettings } from '@spout/model/node-state'
import { describe, expect, it } from 'vitest'
import { flowsConfig, sharedDomain } from './flows-config.ts'
import { parseFlowsState } from './flows-state.ts'

const settings: FlowSettings = {
  source: '192.0.2.1',
  peers: ['192.0.2.3', '192.0.2.2'],
  port: 7300,
  key: '0123456789abcdef'.repeat(4),
}

const domain = (number: number, ...shared: readonly (string | null)[]): DomainEntry => ({
  kind: 'domain',
  version: 1,
  key: `domain/${number}`,
  number,
  networkId: 'n1',
  segment: { physicalNetwork: 'physnet1', vlan: null },
  returnPath: 'snat',
  subnets: shared.map((sharedAddress, index) => ({
    cidr: `10.0.${index}.0/24`,
    nodeAddress: `10.0.${index}.250`,
    gatewayIp: null,
    sharedAddress,
  })),
  gateway: { via: 'vrrp', shard: 1 },
})

const shared = (entry: DomainEntry) => sharedDomain(entry, `/run/netns/spout-d${entry.number}`) ?? []

describe('flowsConfig', () => {
  it('is what the golden says, in whatever order it is asked', async () => {
    const domains = [domain(12, '10.0.0.249', null, 'fd01:0::249'), domain(7, '10.0.0.249'), domain(9, null)]
    const text = flowsConfig(settings, domains.flatMap(shared))
    await expect(text).toMatchFileSnapshot('testdata/three-nodes.config')
    const other = { ...settings, peers: settings.peers.toReversed() }
    expect(flowsConfig(other, domains.toReversed().flatMap(shared))).toBe(text)
  })

  it('names what is wrong and never shows the key', () => {
    const refused = (wrong: Partial<FlowSettings>) => () => flowsConfig({ ...settings, ...wrong }, [])
    expect(refused({ source: 'here' })).toThrow('flows.source: "here" is not an address')
    expect(refused({ peers: ['192.0.2.2', '010.0.0.1'] })).toThrow('is not an address')
    expect(refused({ port: 0 })).toThrow('flows.port: 0 is not a port')
    expect(refused({ key: 'secret' })).toThrow(/^flows.key: is not 64 hex digits$/)
    const spaced = { number: 1, netns: '/run/netns/a b', addresses: ['10.0.0.1'] }
    expect(() => flowsConfig(settings, [spaced])).toThrow('domain 1: "/run/netns/a b" is not a path')
  })
})

describe('parseFlowsState', () => {
  it('takes an account and nothing else', () => {
    expect(parseFlowsState('{"pid":7,"writtenMs":1,"error":null,"strangers":0,"domains":[],"peers":[]}')?.pid).toBe(7)
    for (const text of ['', '{', 'null', '{"pid":"7","domains":[],"peers":[]}', '{"pid":7}'])
      expect(parseFlowsState(text)).toBe(null)
  })
})
