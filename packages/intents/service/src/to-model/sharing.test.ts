import { describe, expect, test } from 'vitest'
import type { PortKey } from '../names.ts'
import { service, uid } from '../testing/objects.ts'
import { addressRequestOf } from './address-request.ts'
import { type HeldGroup, partition, type Sharer, unitOf } from './sharing.ts'

const shares = (namespace: string, key: string, others = '') =>
  unitOf(
    service(
      'a',
      {},
      {
        namespace,
        annotations: { 'spout.dev/allow-shared-ip': key, ...(others && { 'spout.dev/share-with-namespaces': others }) },
      },
    ),
  )

describe('who may share', () => {
  test('without a key none; with one, Services of the namespace', () => {
    expect(unitOf(service('a'))).toEqual({ value: 'alone:shop/a' })
    expect(shares('one', 'k')).toEqual(shares('one', 'k'))
    expect(shares('one', 'k')).not.toEqual(shares('two', 'k'))
    expect(shares('one', 'k')).not.toEqual(shares('one', 'l'))
  })

  test('across namespaces only when both sides agree', () => {
    expect(shares('one', 'k', 'two')).toEqual(shares('two', 'k', 'one'))
    expect(shares('one', 'k', 'two')).not.toEqual(shares('two', 'k'))
    expect(shares('one', 'k', 'two,three')).not.toEqual(shares('two', 'k', 'one'))
  })

  test.each(['two,../x', 'T', 'a:b', 'a b'])('refused: namespaces %j', (others) => {
    expect(shares('one', 'k', others)).toMatchObject({ refusal: { reason: 'InvalidAnnotation' } })
  })

  test('a key cannot pretend to be another unit', () => {
    expect(shares('one', 'k:x')).not.toEqual(shares('one', 'k'))
    expect(shares('two', 'one,two:k')).not.toEqual(shares('two', 'k', 'one'))
  })
})

const sharer = (number: number, ports: readonly PortKey[], ip = ''): Sharer => {
  const one = service(`s${number}`, ip ? { loadBalancerIP: ip } : {}, { uid: uid(number) })
  const request = addressRequestOf(one)
  if ('refusal' in request) throw new Error()
  return { service: one, request: request.value, ports }
}
const held = (id: string, ports: Record<string, number>, address = '198.51.100.1'): HeldGroup => ({
  id,
  addresses: new Map([[4, address]]),
  ports: new Map(Object.entries(ports).map(([port, number]) => [port as PortKey, uid(number)])),
  services: new Set(Object.values(ports).map(uid)),
})
const dealt = (sharers: readonly Sharer[], documents: readonly HeldGroup[] = []) =>
  partition(sharers, documents).map(({ heldBy, members }) => [
    heldBy,
    ...members.map(({ service: { metadata }, taken }) => [metadata.name, ...taken.keys()].join(' ')),
  ])

describe('the assignment to addresses', () => {
  test('disjoint ports: one address, whatever the order', () => {
    const all = [sharer(1, ['tcp/80']), sharer(2, ['tcp/443']), sharer(3, ['udp/80'])]
    expect(dealt(all)).toEqual([[null, 's1', 's2', 's3']])
    expect(dealt([...all].reverse())).toEqual(dealt(all))
  })

  test('colliding ports: the younger gets an address of its own', () => {
    expect(dealt([sharer(1, ['tcp/80']), sharer(2, ['tcp/80'])])).toEqual([
      [null, 's1'],
      [null, 's2'],
    ])
  })

  test('colliding ports on an address requested by number: an error for each', () => {
    const [a, b] = [sharer(1, ['tcp/80'], '198.51.100.1'), sharer(2, ['tcp/80', 'tcp/81'], '198.51.100.1')]
    expect(dealt([a, b])).toEqual([[null, 's1', 's2 tcp/80']])
  })

  test('different addresses requested: not shared', () => {
    expect(dealt([sharer(1, ['tcp/80'], '198.51.100.1'), sharer(2, ['tcp/81'], '198.51.100.2')])).toHaveLength(2)
  })

  test('a Service stays with its ports when an older one comes or requests more', () => {
    const there = held('d', { 'tcp/80': 2, 'tcp/81': 3 })
    expect(dealt([sharer(1, ['tcp/80']), sharer(2, ['tcp/80']), sharer(3, ['tcp/81'])], [there])).toEqual([
      ['d', 's2', 's3'],
      [null, 's1'],
    ])
    expect(dealt([sharer(2, ['tcp/80', 'tcp/81']), sharer(3, ['tcp/81'])], [there])).toEqual([['d', 's2 tcp/81', 's3']])
  })

  test('a newcomer joins the address that it requests', () => {
    const there = [held('d', { 'tcp/80': 1 }), held('e', { 'tcp/80': 2 }, '198.51.100.2')]
    expect(dealt([sharer(1, ['tcp/80']), sharer(2, ['tcp/80']), sharer(3, ['tcp/81'], '198.51.100.2')], there)).toEqual(
      [
        ['d', 's1'],
        ['e', 's2', 's3'],
      ],
    )
  })
})
