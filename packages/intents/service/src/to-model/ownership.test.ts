import { MANAGED_BY } from '@spout/connector'
import { describe, expect, test } from 'vitest'
import { service } from '../testing/objects.ts'
import { ownershipOf } from './ownership.ts'

const settings = { className: 'spout.dev/lb', isDefault: true, namespaces: null }
const marked = { annotations: { [MANAGED_BY]: 'spout.dev/lb' } }
const takeOver = (value: string) => ({ annotations: { 'spout.dev/take-over': value } })
const asking = takeOver('true')

describe('the ownership of a Service', () => {
  test.each([
    ['no class, default implementation', {}, {}, true, 'ours'],
    ['no class, not the default', {}, {}, false, 'foreign'],
    ['no class, not the default, but it asks for us', {}, asking, false, 'ours'],
    ['no class, not the default, and it asks in other words', {}, takeOver('yes'), false, 'foreign'],
    ['another class that asks for us', { loadBalancerClass: 'metallb.io/metallb' }, asking, false, 'foreign'],
    ['our class, not the default', { loadBalancerClass: 'spout.dev/lb' }, {}, false, 'ours'],
    ['our class that names one of load balancers', { loadBalancerClass: 'spout.dev/gold' }, {}, false, 'ours'],
    ['a domain that begins like ours', { loadBalancerClass: 'spout.developer/gold' }, {}, true, 'foreign'],
    ['another class, default', { loadBalancerClass: 'metallb.io/metallb' }, {}, true, 'foreign'],
    ['another class with our mark', { loadBalancerClass: 'metallb.io/metallb' }, marked, true, 'foreign'],
    ['not a load balancer', { type: 'ClusterIP' }, {}, true, 'foreign'],
    ['type changed away', { type: 'ClusterIP' }, marked, true, 'released'],
    ['no longer the default', {}, marked, false, 'released'],
    ['being deleted', {}, { deletionTimestamp: '2026-01-02T00:00:00Z' }, true, 'deleting'],
    ['another class being deleted', { loadBalancerClass: 'x' }, { deletionTimestamp: 'x' }, true, 'foreign'],
  ] as const)('%s', (_, spec, metadata, isDefault, wanted) => {
    expect(ownershipOf(service('a', spec, metadata), { ...settings, isDefault })).toBe(wanted)
  })

  test('a namespace that is not watched', () => {
    expect(ownershipOf(service('a'), { ...settings, namespaces: ['other'] })).toBe('foreign')
    expect(ownershipOf(service('a'), { ...settings, namespaces: ['shop'] })).toBe('ours')
  })
})
