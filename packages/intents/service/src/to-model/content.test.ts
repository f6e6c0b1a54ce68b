import { contentOf, differenceTo, type LoadBalancerContent, says } from '@spout/connector'
import type { LoadBalancer } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { endpoint, service, slice, uid } from '../testing/objects.ts'
import { draftOf, groupContent } from './draft.ts'

const one = service('web', { loadBalancerSourceRanges: ['10.0.0.0/8'] })
const slices = [slice('web', [endpoint('10.1.0.1'), endpoint('10.1.0.2')])]

function wantedOf(): LoadBalancerContent {
  const draft = draftOf(one, { slices, nodes: [], mode: 'direct' })
  if ('refusal' in draft) throw new Error(draft.refusal.message)
  return groupContent([{ draft: draft.value, taken: new Set() }], 'c')
}

/** The content as the control plane stores it. */
function documentOf({ name, annotations, pools, listeners }: LoadBalancerContent): LoadBalancer {
  const document = {
    name,
    annotations: Object.fromEntries(Object.entries(annotations).reverse()),
    enabled: true,
    pools: pools.map(({ monitor, members, ...pool }, at) => ({
      id: uid(20 + at),
      ...pool,
      members: members.map((member, index) => ({ id: uid(40 + index), ...member })),
      monitor: monitor === null ? null : { ...monitor, http: monitor.path === null ? null : { path: monitor.path } },
    })),
    listeners: listeners.map(({ defaultPool, ...listener }) => ({ ...listener, defaultPoolId: uid(20), defaultPool })),
  }
  return document as unknown as LoadBalancer
}

describe('whether a document has the wanted content', () => {
  const wanted = wantedOf()
  const [pool] = wanted.pools
  const withPool = (more: object): LoadBalancerContent => ({ ...wanted, pools: [{ ...pool!, ...more }] })
  const [first, second] = pool!.members

  test('it has, in any order of its fields', () => {
    expect(contentOf(documentOf(wanted))).toEqual(wanted)
    expect(says(documentOf(wanted), wanted)).toBe(true)
    expect(says({ ...documentOf(wanted), enabled: false }, wanted)).toBe(false)
  })

  test('it has, in any order of its members', () => {
    expect(says(documentOf(wanted), withPool({ members: [second, first] }))).toBe(true)
  })

  test('a difference in members only names those that come, change and go', () => {
    const third = { ...second!, address: '10.1.0.3' }
    const heavier = { ...first!, weight: 7 }
    const document = documentOf(wanted)
    expect(differenceTo(document, withPool({ members: [third, heavier] }))).toEqual([
      {
        poolId: document.pools[0]!.id,
        put: [third, heavier],
        remove: [{ address: second!.address, port: second!.port }],
      },
    ])
    expect(differenceTo(document, withPool({ members: [first, second, third, third] }))).toBe('whole')
    expect(differenceTo(document, { ...withPool({ members: [] }), name: 'other' })).toBe('whole')
  })

  test.each([
    ['the name', { ...wanted, name: 'other' }],
    ['an annotation', { ...wanted, annotations: { ...wanted.annotations, more: 'x' } }],
    ['no pool', { ...wanted, pools: [] }],
    ['a setting of the pool', withPool({ drainSeconds: 7 })],
    ['its check', withPool({ monitor: null })],
    ['a member less', withPool({ members: [first] })],
    ['a member more', withPool({ members: [first, second, { ...second, port: 81 }] })],
    ...Object.keys(second!).map(
      (field) => [`the ${field} of a member`, withPool({ members: [first, { ...second, [field]: 99 }] })] as const,
    ),
    ['a port', { ...wanted, listeners: wanted.listeners.map((listener) => ({ ...listener, port: 81 })) }],
    [
      'the sources',
      { ...wanted, listeners: wanted.listeners.map((listener) => ({ ...listener, allowedCidrs: null })) },
    ],
  ] as const)('it has not: %s', (_, other) => {
    expect(says(documentOf(wanted), other as LoadBalancerContent)).toBe(false)
  })
})
