import type { ConnectionFate, Preview } from '@spout/model'
import { expect, test } from 'vitest'
import { previewText } from './preview-text.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const fate = (fields: Partial<ConnectionFate>): ConnectionFate => ({
  ...{ fate: 'end', code: 'Deleted', message: 'Every connection ends.', listener: null, pool: null },
  ...{ afterSeconds: null, memberCount: 0, members: [], ...fields },
})
const preview = (fields: Partial<Preview>, plan: Partial<Preview['plan']> = {}): Preview => ({
  ...{ dryRun: true, loadBalancer: null, addresses: [], dnsNames: { added: [], removed: [] }, ...fields },
  plan: {
    ...{ reason: null, owner: { before: null, after: null }, shard: { before: null, after: null } },
    ...{ nodes: [], parts: [], connections: [], ...plan },
  },
})

test('what ends comes first, then what changes', () => {
  const end = { name: 'two', address: 'fd10::12', port: 9000 }
  const text = previewText(
    preview(
      {
        addresses: [{ address: '198.51.100.7', change: 'released', restSeconds: 60 }],
        dnsNames: { added: ['new.example.com'], removed: ['old.example.com'] },
      },
      {
        reason: { code: 'Placed', message: 'Node `n1` announces it.' },
        connections: [
          fate({}),
          fate({
            ...{
              fate: 'drain',
              message: 'They drain.',
              pool: { id: ID, name: 'web' },
              afterSeconds: 300,
              memberCount: 12,
            },
            members: Array.from({ length: 12 }, () => end),
          }),
        ],
        parts: [
          {
            ...{ part: 'pool', id: ID, name: 'web', change: 'changed', fields: ['algorithm'], memberChanges: 2 },
            members: [
              { ...end, change: 'removed', weight: { before: 1, after: null } },
              { name: '', address: '10.0.0.11', port: 80, change: 'changed', weight: { before: 1, after: 3 } },
            ],
            slots: { size: 64, moved: 32 },
          },
        ],
        nodes: [
          {
            ...{ nodeId: ID, nodeName: 'n1', change: 'changed', proxy: 'run-time' },
            announces: { before: false, after: true },
          },
        ],
      },
    ),
    false,
  )
  expect(text).toBe(`Open connections
  end     Every connection ends.
  drain   pool web: They drain. After 300 s.
${'          [fd10::12]:9000 (two)\n'.repeat(10)}          and 2 more

Addresses
  198.51.100.7  released, and rests for 60 s

Names
  + new.example.com
  - old.example.com

Changes
  ~ pool web: algorithm, 32 of 64 hash slots get another member
      - [fd10::12]:9000 (two)
      ~ 10.0.0.11:80, weight 1 -> 3

Nodes
  Node \`n1\` announces it.
  NODE  LOAD BALANCER  ANNOUNCES  PROXY
  n1    changed        no -> yes  changed while it runs

Nothing was changed: this was a dry run.
`)
})

test('names of tenants cannot steer the terminal', () => {
  const text = previewText(
    preview(
      {},
      {
        connections: [fate({ listener: { id: ID, name: 'a\u001b[2J' } })],
        parts: [
          {
            part: 'listener',
            id: ID,
            name: 'a\u001b[2J',
            change: 'removed',
            fields: [],
            memberChanges: 0,
            members: [],
            slots: null,
          },
        ],
      },
    ),
    true,
  )
  expect(text).not.toContain('\u001b[2J')
})
