import { describe, expect, it } from 'vitest'
import type { GroupNode } from '../announcers/group-node.ts'
import { heldBack, unreadyOf } from './held-drains.ts'

const T0 = Date.parse('2026-01-01T00:00:00.000Z')
const SECOND = 1000

const node = (number: number, fields: Partial<GroupNode> = {}): GroupNode => ({
  id: `node-${number}`,
  name: `n${number}`,
  scheduling: 'enabled',
  schedulingSince: null,
  drainedSince: null,
  fabricAddress: `192.0.2.${number}`,
  connection: 'connected',
  ...fields,
})

const drained = (number: number, fields: Partial<GroupNode> = {}): GroupNode => {
  const since = new Date(T0).toISOString()
  return node(number, { scheduling: 'draining', schedulingSince: since, drainedSince: since, ...fields })
}

const all = () => true
const none = () => false

describe('a drain', () => {
  it('waits until the nodes that take over know, and not for ever', () => {
    const able = { canTakeOver: true }
    const nodes = [drained(1, able), node(2, able), node(3, able)]
    const wait = (knows: (one: GroupNode) => boolean, nowS: number) => heldBack(nodes, knows, T0 + nowS * SECOND)
    expect(wait(none, 0)).toMatchObject({ nodeIds: new Set(['node-1']), againAtMs: T0 + 10 * SECOND })
    expect(wait(({ id }) => id === 'node-2', 1).nodeIds).toEqual(new Set(['node-1']))
    expect(wait(all, 1)).toMatchObject({ nodeIds: new Set(), againAtMs: null })
    expect(wait(none, 10)).toMatchObject({ nodeIds: new Set(), againAtMs: null })
  })

  it('does not wait for silent or drained nodes', () => {
    const nodes = [drained(1), drained(2), node(3, { connection: 'disconnected', canTakeOver: false })]
    expect(heldBack(nodes, none, T0).nodeIds.size).toBe(0)
  })

  it('waits for as long as it takes until another node can announce, and says for which', () => {
    const nodes = (canTakeOver: boolean) => [drained(1, { canTakeOver: true }), node(2, { canTakeOver })]
    expect(heldBack(nodes(false), all, T0 + 3600 * SECOND)).toEqual({
      nodeIds: new Set(['node-1']),
      waitsFor: new Map([['node-1', { unready: ['n2'], unheard: [] }]]),
      againAtMs: null,
    })
    expect(heldBack(nodes(true), all, T0).nodeIds.size).toBe(0)
  })

  it('waits ten seconds for the last node that may take over, since a shard may go to any', () => {
    const nodes = [drained(1, { canTakeOver: true }), node(2, { canTakeOver: true }), node(3, { canTakeOver: false })]
    expect(heldBack(nodes, all, T0 + 9 * SECOND)).toEqual({
      nodeIds: new Set(['node-1']),
      waitsFor: new Map([['node-1', { unready: ['n3'], unheard: [] }]]),
      againAtMs: T0 + 10 * SECOND,
    })
    expect(heldBack(nodes, all, T0 + 10 * SECOND).nodeIds.size).toBe(0)
  })

  it.each<[string, Partial<GroupNode>, Partial<GroupNode>]>([
    ['announces nothing itself', { canTakeOver: false }, { canTakeOver: false }],
    ['announces nothing itself, although the other is unknown', { canTakeOver: false }, {}],
    ['began its drain already', { canTakeOver: true, drainBegun: true }, { canTakeOver: false }],
    ['began its drain already, and both are unknown', { drainBegun: true }, {}],
  ])('does not wait for that if the node %s', (_what, own, other) => {
    expect(heldBack([drained(1, own), node(2, other)], all, T0).nodeIds.size).toBe(0)
  })

  it.each<[string, Partial<GroupNode>, Partial<GroupNode>, { unready: string[]; unheard: string[] }]>([
    ['the other one', { canTakeOver: true }, {}, { unready: [], unheard: ['n2'] }],
    ['it', {}, { canTakeOver: false }, { unready: ['n2'], unheard: [] }],
    ['neither', {}, {}, { unready: [], unheard: ['n2'] }],
  ])('waits while it is unknown who can announce: %s has not reported since the start', (_who, own, other, waits) => {
    expect(heldBack([drained(1, own), node(2, other)], all, T0 + 3600 * SECOND)).toEqual({
      nodeIds: new Set(['node-1']),
      waitsFor: new Map([['node-1', waits]]),
      againAtMs: null,
    })
  })
})

describe('nodes that take over last', () => {
  const able = { canTakeOver: true }
  const unable = { canTakeOver: false }

  it('are those that cannot announce yet, while a node drains and another one can', () => {
    expect(unreadyOf([drained(1, able), node(2, able), node(3, unable)])).toEqual(new Set(['node-3']))
    expect(unreadyOf([drained(1, able), node(2, unable), node(3, unable)])).toEqual(new Set())
    expect(unreadyOf([node(1, able), node(2, unable)])).toEqual(new Set())
    expect(unreadyOf([drained(1, unable), node(2, able), node(3)])).toEqual(new Set())
  })
})
