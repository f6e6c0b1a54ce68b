import { describe, expect, it } from 'vitest'
import { bodyOf } from '../../body.ts'
import { printList } from '../../output/print.ts'
import { announcerColumns } from '../../resources/announcer-settings.ts'
import { bgpAdvertisement, bgpPeer } from '../../resources/bgp.ts'
import { node, nodeGroup } from '../../resources/nodes.ts'
import type { Column } from '../../resources/resource.ts'
import { MOVE_COLUMNS, vip } from '../../resources/vips.ts'
import { explainVipText, type VipExplanation } from '../explain/explain-vip-text.ts'
import { stillOwned } from '../nodes/node-scheduling.ts'

const TABLE = { format: 'table', colour: false } as const
const move = {
  at: '2026-01-01T00:00:20.000Z',
  event: 'taken',
  node: 'node2',
  from: 'node1',
  reason: 'MasterSilent',
  durationMs: 83,
} as const

describe('tables', () => {
  it('nodes with what they own', () => {
    const shards = [
      { number: 1, state: 'master' },
      { number: 2, state: 'backup' },
      { number: 3, state: 'master' },
    ]
    const bgpSessions = [{ state: 'established' }, { state: 'active' }]
    const status = { connection: 'connected', inSync: true, shards, bgpSessions, announced: 12 }
    const rows = [
      { name: 'node1', scheduling: 'enabled', announcer: 'bgp', status },
      { name: 'node2', scheduling: 'enabled', announcer: 'l2', status: { ...status, shards: [], bgpSessions: [] } },
    ]
    expect(printList(rows, node.columns, TABLE)).toBe(
      [
        'NAME   CONNECTION  IN SYNC  SCHEDULING  ANNOUNCER  SHARDS    BGP        VIPS',
        'node1  connected   true     enabled     bgp        1 3 of 3  1 of 2 up  12',
        'node2  connected   true     enabled     l2         -         -          12',
        '',
      ].join('\n'),
    )
  })

  it('VIPs with their last move, and a history', () => {
    const row = {
      address: '198.51.100.16',
      loadBalancerName: 'shop',
      announcer: 'vrrp',
      shard: 2,
      owners: ['node2'],
      state: 'announced',
      lastMove: move,
    }
    expect(printList([row], vip.columns, TABLE)).toBe(
      [
        'ADDRESS        LOAD BALANCER  ANNOUNCER  SHARD  OWNER  STATE      LAST MOVE                            AT',
        '198.51.100.16  shop           vrrp       2      node2  announced  node1 to node2, MasterSilent, 83 ms  2026-01-01T00:00:20.000Z',
        '',
      ].join('\n'),
    )
    expect(printList([move], MOVE_COLUMNS, TABLE)).toBe(
      [
        'AT                        EVENT  NODE   FROM   REASON        DURATION',
        '2026-01-01T00:00:20.000Z  taken  node2  node1  MasterSilent  83 ms',
        '',
      ].join('\n'),
    )
  })
})

describe('groups', () => {
  const settings = { vrrp: { shards: 4, profile: 'fast', routerIds: [7], excludedRouterIds: [9] }, bgp: null }
  const bgp = { localAs: 64_500, policy: 'healthy', drainSeconds: 10 }

  it('with the settings that their announcer uses, one of another version too', () => {
    const rows = [
      { name: 'a', announcer: 'l2', ...settings },
      { name: 'b', announcer: 'vrrp', ...settings },
      { name: 'c', announcer: 'bgp', ...settings, bgp },
      { name: 'd', announcer: 'later', ...settings },
    ]
    const titles = ['NAME', 'SHARDS', 'PROFILE', 'LOCAL AS', 'EXCLUDED IDS']
    const columns = nodeGroup.columns.filter(({ title }) => titles.includes(title))
    expect(printList(rows, columns, { ...TABLE, format: 'wide' })).toBe(
      [
        'NAME  SHARDS  PROFILE  LOCAL AS  EXCLUDED IDS',
        'a     -       -        -         -',
        'b     4       fast     -         9',
        'c     4       fast     64500     9',
        'd     4       fast     -         9',
        '',
      ].join('\n'),
    )
  })

  it('with some settings in a wide list only', () => {
    const titlesOf = (columns: readonly Column[]) => columns.map(({ title }) => title)
    const [narrow, wide] = [false, true].map((wide) => titlesOf(announcerColumns(wide)))
    expect(narrow).toEqual(expect.arrayContaining(['SHARDS', 'PROFILE', 'LOCAL AS']))
    expect(wide).toEqual(expect.arrayContaining(['ROUTER IDS', 'EXCLUDED IDS', 'POLICY', 'DRAIN S']))
    expect(titlesOf(nodeGroup.columns.filter((each) => each.wide))).toEqual(expect.arrayContaining(wide ?? []))
  })
})

describe('flags', () => {
  it('of groups, peers and advertisements become the body of a change', () => {
    expect(bodyOf(nodeGroup.fields, { announcer: 'bgp', localAs: '64500', excludeRouterIds: '1,2' })).toEqual({
      announcer: 'bgp',
      bgp: { localAs: 64_500 },
      vrrp: { excludedRouterIds: [1, 2] },
    })
    expect(bodyOf(bgpPeer.fields, { nodes: 'node1, node2', as: '64600', template: true, from: 'tor' })).toEqual({
      as: 64_600,
      nodeSelection: { nodeIds: ['node1', 'node2'] },
      template: true,
      templateId: 'tor',
    })
    expect(bodyOf(bgpAdvertisement.fields, { aggregateLength4: '24', med: '5' })).toEqual({
      aggregateLength4: 24,
      med: 5,
    })
    expect(bodyOf(node.fields, { fabricAddress: 'none' })).toEqual({ fabricAddress: null })
  })
})

it('a drained node owns addresses that it is master of or answers for, not standby ones', () => {
  const owning = (shards: object[], vips: number) => stillOwned({ status: { shards, announced: 9 } }, vips)
  expect(owning([{ number: 2, state: 'master' }], 7)).toBe('shard 2 and 7 VIPs')
  expect(owning([{ number: 2, state: 'backup' }], 3)).toBe('3 VIPs')
  expect(owning([{ number: 2, state: 'backup' }], 0)).toBeNull()
})

it('explains an address: its owner, how, why, and every node’s part', () => {
  const explanation: VipExplanation = {
    address: '198.51.100.16',
    scope: 'fabric',
    announcer: 'vrrp',
    shard: 2,
    nodeGroup: 'default',
    state: 'announced',
    owners: ['node2'],
    lastMove: move,
    loadBalancer: { id: 'x', name: 'shop', provisioning: 'active', message: 'node `node2` is its master' },
    decision: { message: 'Shard 2 of group `default` announces it.' },
    routerId: 12,
    profile: 'default',
    policy: null,
    shardState: {
      state: 'settled',
      master: 'node2',
      nodes: [{ node: 'node2', state: 'master', since: '2026-01-01T00:00:20.000Z' }],
    },
    nodes: [
      {
        node: 'node1',
        connection: 'disconnected',
        scheduling: 'draining',
        entry: 'programmed',
        message: null,
        announces: false,
        problems: [{ code: 'NoFabricAddress', message: 'Its address on the fabric is not known yet.' }],
        sessions: [{ peer: 'tor-a', state: 'idle', lastError: 'Connection refused' }],
      },
      {
        node: 'node2',
        connection: 'connected',
        scheduling: 'enabled',
        entry: 'programmed',
        message: null,
        announces: true,
      },
    ],
  }
  expect(explainVipText(explanation, false)).toBe(
    [
      'VIP 198.51.100.16 (fabric): announced by node2',
      '  of     load balancer shop, active: node `node2` is its master',
      '  by     vrrp: shard 2 of group default (router id 12, profile default), settled, master node2',
      '  why    Shard 2 of group `default` announces it.',
      '  moved  2026-01-01T00:00:20.000Z: node1 to node2, MasterSilent, 83 ms',
      '',
      'node1: disconnected, draining, programmed, does not announce it',
      '  session with tor-a: idle (Connection refused)',
      '  Its address on the fabric is not known yet. (NoFabricAddress)',
      'node2: connected, programmed, master since 2026-01-01T00:00:20.000Z, announces it',
      '',
    ].join('\n'),
  )
})
