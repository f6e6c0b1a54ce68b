import { expect, test } from 'vitest'
import { muchWords, placeWords, waitWords } from './drain-words.ts'

const to = { id: '1', name: 'n2' }

test.each([
  ['shard', 3, to, 'Shard 3 → n2'],
  ['owner', null, to, '→ n2'],
  ['routers', null, null, '→ the other nodes'],
  ['stay', 3, null, 'Shard 3 stays'],
  ['stay', null, null, 'Stays'],
] as const)('says where addresses go: %s', (how, shard, node, words) => {
  expect(placeWords({ how, shard, to: node })).toBe(words)
})

test('counts what moves', () => {
  expect(muchWords({ loadBalancers: 1, addressCount: 2 })).toBe('1 load balancer, 2 addresses')
  expect(muchWords({ loadBalancers: 0, addressCount: 1 })).toBe('0 load balancers, 1 address')
})

test('says what the drain waits for', () => {
  expect(waitWords({ reports: true, hasSuccessor: true, waitsFor: { unready: [], unheard: [] } })).toEqual([])
  const waitsFor = { unready: ['n2', 'n3'], unheard: ['n4'] }
  expect(waitWords({ reports: false, hasSuccessor: false, waitsFor })).toEqual([
    'No other node of its group is connected and in use: nothing moves until one is.',
    'It does not report: it hears of the drain once it does.',
    'The drain waits for n2, n3, to announce.',
    'The drain waits for n4, to report.',
  ])
})
