import type { DrainMove, DrainPreview } from '@spout/model'
import { expect, test } from 'vitest'
import { drainText } from './drain-text.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const move = (fields: Partial<DrainMove>): DrainMove => ({
  ...{ how: 'shard', shard: 1, to: { id: ID, name: 'n2' }, message: 'Node `n2` comes next in shard 1.' },
  ...{ loadBalancers: 0, addressCount: 0, addresses: [], ...fields },
})
const preview = (fields: Partial<DrainPreview>): DrainPreview => ({
  ...{ dryRun: true, node: { id: ID, name: 'n1' }, group: { id: ID, name: 'g' }, reports: true, hasSuccessor: true },
  ...{ waitsFor: { unready: [], unheard: [] }, loadBalancers: 0, moves: [], connections: [], ...fields },
})

test('what ends comes first, then what moves where, then what the drain waits for', () => {
  const many = Array.from({ length: 12 }, (_, at) => `198.51.100.${at}`)
  const text = drainText(
    preview({
      waitsFor: { unready: ['n3'], unheard: ['n4', 'n5'] },
      moves: [
        move({}),
        move({ shard: 2, loadBalancers: 1, addressCount: 1, addresses: ['fd10::1'] }),
        move({ how: 'owner', shard: null, loadBalancers: 11, addressCount: 12, addresses: many }),
        move({ how: 'stay', shard: null, to: null, message: 'Node `n1` keeps it.', loadBalancers: 1 }),
        move({ how: 'routers', shard: null, to: null, message: 'Others announce it.' }),
      ],
      connections: [
        { fate: 'end', code: 'OnlyHere', message: 'They end.', afterSeconds: null, loadBalancers: 1 },
        { fate: 'drain', code: 'Proxied', message: 'They stay.', afterSeconds: 300, loadBalancers: 2 },
      ],
    }),
    false,
  )
  expect(text).toBe(`Open connections
  end     1 load balancer: They end.
  drain   2 load balancers: They stay. After 300 s.

Moves
  shard 1 -> n2: 0 load balancers, 0 addresses
  shard 2 -> n2: 1 load balancer, 1 address
      fd10::1
  -> n2: 11 load balancers, 12 addresses
${many
  .slice(0, 10)
  .map((address) => `      ${address}\n`)
  .join('')}      and 2 more
  stays: 1 load balancer, 0 addresses. Node \`n1\` keeps it.
  -> the other nodes: 0 load balancers, 0 addresses. Others announce it.

Before it begins
  It waits for what cannot announce yet: n3.
  It waits for what has not reported: n4, n5.

Nothing was changed: this was a dry run.
`)
})

test('a node that announces nothing moves nothing; one that is silent, or alone, is named so', () => {
  expect(drainText(preview({ reports: false, hasSuccessor: false }), false)).toBe(`Moves
  The node announces nothing: nothing moves.

Before it begins
  No other node of its group is connected and in use: nothing moves until one is.
  The node does not report: it hears of the drain once it does.

Nothing was changed: this was a dry run.
`)
})
