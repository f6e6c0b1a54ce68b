import type { LoadBalancerContent } from '@spout/connector'
import type { EndpointSlice, Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { endpoint, service, slice, uid } from '../testing/objects.ts'
import { planUnit } from './unit-plan.ts'

const SELECTOR = { selector: { app: 'web' } }
const SEEN = [slice('web', [endpoint('10.1.0.1'), endpoint('10.1.0.2')])]

const contentFor = (
  one: Service,
  slices: readonly EndpointSlice[],
  documents: readonly LoadBalancer[],
): LoadBalancerContent | undefined =>
  planUnit({
    services: [one],
    documents,
    cluster: 'c',
    surroundings: () => ({ slices, nodes: [], mode: 'direct' }),
  }).groups[0]?.content

/** What the control plane would show of a Service with endpoints. */
function documentOf(one: Service): LoadBalancer {
  const { name, annotations, pools, listeners } = contentFor(one, SEEN, [])!
  return {
    id: uid(9),
    name,
    annotations,
    vips: [{ address: '198.51.100.7' }],
    pools: pools.map((pool, at) => ({ ...pool, id: uid(20 + at), monitor: null })),
    listeners: listeners.map((listener) => ({ ...listener, id: uid(30), defaultPoolId: uid(20) })),
  } as unknown as LoadBalancer
}

const members = (content: LoadBalancerContent | undefined) =>
  content?.pools.flatMap((pool) => pool.members.map(({ address }) => address))

describe('a Service without an EndpointSlice', () => {
  const document = documentOf(service('web', SELECTOR))

  test('keeps its members: its slices were not seen yet', () => {
    expect(members(contentFor(service('web', SELECTOR), [], [document]))).toEqual(['10.1.0.1', '10.1.0.2'])
  })

  test('keeps them also while its request cannot be read', () => {
    const wrong = service('web', SELECTOR, {
      annotations: { 'spout.dev/address-pool': 'a', 'metallb.io/address-pool': 'b' },
    })
    expect(members(contentFor(wrong, [], [document]))).toEqual(['10.1.0.1', '10.1.0.2'])
  })

  test('loses them with an empty slice, or without a selector', () => {
    expect(members(contentFor(service('web', SELECTOR), [slice('web', [])], [document]))).toEqual([])
    expect(members(contentFor(service('web'), [], [document]))).toEqual([])
  })

  test('has none of them when it is reached by node ports', () => {
    const byNodes = service('web', SELECTOR, { annotations: { 'spout.dev/mode': 'node-ports' } })
    expect(members(contentFor(byNodes, [], [document]))).toEqual([])
  })
})

test('a Service that left a shared address is no longer named, also while the one that stays cannot be read', () => {
  const [stays, left] = [service('web'), service('left', {}, { uid: uid(2) })]
  const document = documentOf(stays)
  const both = { ...document.annotations, [`kubernetes.service.${left.metadata.uid}`]: 'shop/left' }
  const wrong = service('web', {}, { annotations: { 'spout.dev/mode': 'teleport' } })
  const content = contentFor(wrong, SEEN, [{ ...document, annotations: both }])
  expect(content?.annotations).toEqual(document.annotations)
  expect(members(content)).toEqual(['10.1.0.1', '10.1.0.2'])
})

test('on a shared address a Service keeps a port that the proxy carries when an older one asks for it, too', () => {
  const shared = { 'spout.dev/allow-shared-ip': 'key', 'spout.dev/load-balancer-ips': '198.51.100.7' }
  const named = (name: string, number: number, spec: object, more: object = {}) =>
    service(name, spec, {
      ...{ uid: uid(number), creationTimestamp: `2026-01-0${number}T00:00:00Z` },
      annotations: { ...shared, ...more },
    })
  const holder = named('holder', 2, {}, { 'spout.dev/proxy-protocol': 'v2' })
  const older = named('older', 1, { ports: [{ name: 'http', protocol: 'TCP', port: 80 }] })
  const [group] = planUnit({
    ...{ services: [older, holder], documents: [documentOf(holder)], cluster: 'c' },
    surroundings: () => ({ slices: SEEN, nodes: [], mode: 'direct' }),
  }).groups
  expect(group?.heldBy).toBe(uid(9))
  expect(group?.services.map((one) => [one.service.metadata.name, one.ipMode, one.ports[0]?.error])).toEqual([
    ['holder', 'Proxy', null],
    ['older', 'VIP', 'spout.dev/PortTaken'],
  ])
})
