import { describe, expect, it } from 'vitest'
import { complaints, MOST_DRAWN, pathGraph, pathThrough } from './path-graph.ts'
import { explanation, listener, member, pool } from './testing/explanation.ts'

const SHOP = explanation({
  listeners: [listener('l1', { poolId: 'web' })],
  pools: [
    pool('web', [
      member('m1'),
      member('m2', { health: 'down', reason: 'connection refused', takesTraffic: false, why: 'it is down' }),
    ]),
  ],
})

describe('pathGraph', () => {
  it('goes from the clients to the members', () => {
    const { boxes } = pathGraph(SHOP)
    expect(boxes.map(({ column }) => column)).toEqual(
      ['client', 'address', 'node', 'node', 'listener', 'pool', 'member', 'member'], // no routes, so no column for them
    )
  })

  it('has its nodes in the order of their names, however they are told', () => {
    const titles = (nodes: typeof SHOP.nodes) =>
      pathGraph({ ...SHOP, nodes })
        .boxes.filter(({ column }) => column === 'node')
        .map(({ title }) => title)
    expect(titles(SHOP.nodes.toReversed())).toEqual(['node1', 'node2'])
    expect(titles(SHOP.nodes)).toEqual(['node1', 'node2'])
  })

  it('says of a named route that answers itself what it answers', () => {
    const gone = { id: 'r1', name: 'gone', enabled: true, reached: true, conditions: [] }
    const routes = [{ ...gone, action: { type: 'respond', code: 410 } as const }]
    const { boxes } = pathGraph({ ...SHOP, listeners: [listener('l1', { routes })] })
    expect(boxes.find(({ column }) => column === 'route')).toMatchObject({
      title: 'gone',
      detail: 'answers 410: every request',
    })
  })

  it('tells which links connections take now', () => {
    const used = pathGraph(SHOP).links.filter(({ isUsed }) => isUsed)
    expect(used.map(({ from, to }) => `${from} > ${to}`)).toEqual([
      'client > address 198.51.100.17',
      'address 198.51.100.17 > node n1',
      'node n1 > listener l1',
      'listener l1 > pool web',
      'pool web > member m1',
    ])
  })

  it('shows a member as well only after its first check', () => {
    const [box] = pathGraph({ ...SHOP, pools: [pool('web', [member('m1', { health: 'unknown' })])] }).boxes.filter(
      ({ column }) => column === 'member',
    )
    expect(box).toMatchObject({ tone: 'quiet', state: 'not checked yet', reason: expect.stringMatching(/first check/) })
  })

  it('says of everything that is not green why', () => {
    expect(complaints(pathGraph(SHOP)).map(({ title, tone, reason }) => [title, tone, reason])).toEqual([
      ['web', 'warn', '1 of 2 members is down.'],
      ['m2', 'bad', 'It is down: connection refused.'],
    ])
  })

  it('complains of an address that no node announces, of silent nodes, and of pools without members', () => {
    const { vips, nodes } = SHOP
    const graph = pathGraph({
      ...SHOP,
      vips: vips.map((vip) => ({ ...vip, announcedBy: [] })),
      nodes: nodes.map((node) => ({ ...node, connection: 'disconnected' })),
      pools: [pool('web', [])],
    })
    expect(complaints(graph).map(({ title, reason }) => `${title}: ${reason}`)).toEqual([
      '198.51.100.17: No node announces it. It was planned there.',
      'node1: It does not report. It keeps forwarding what it has.',
      'node2: It does not report. It keeps forwarding what it has.',
      'web: It has no members.',
    ])
    expect(graph.links.find(({ to }) => to === 'pool web')?.isUsed).toBe(true)
  })

  it('draws routes, and says which are never reached', () => {
    const action = { type: 'forward', pools: [{ poolId: 'web', weight: 1 }] } as const
    const route = {
      name: '',
      enabled: true,
      reached: true,
      conditions: [],
      action: { ...action, pools: [...action.pools] },
    }
    const graph = pathGraph({
      ...SHOP,
      listeners: [
        listener('l1', {
          routes: [
            { ...route, id: 'r1' },
            { ...route, id: 'r2', reached: false },
          ],
        }),
      ],
    })
    const routes = graph.boxes.filter(({ column }) => column === 'route')
    expect(routes.map(({ title, detail, state }) => [title, detail, state])).toEqual([
      ['every request', 'to web', 'reached'],
      ['every request', 'to web', 'never reached'],
    ])
    expect(graph.links.filter(({ to }) => to === 'pool web').map(({ isUsed }) => isUsed)).toEqual([true, false])
  })

  it('draws of ten thousand members those that need somebody, and counts the rest', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => member(`m${at}`))
    many[9000] = member('sick', { health: 'down', takesTraffic: false, why: 'it is down' })
    const { boxes } = pathGraph({ ...SHOP, pools: [pool('web', many)] })
    const members = boxes.filter(({ column }) => column === 'member')
    expect(members).toHaveLength(MOST_DRAWN + 1)
    expect(members[0]?.title).toBe('sick')
    expect(members.at(-1)?.title).toBe('9988 more members')
  })

  it('shows the rate of a listener', () => {
    const { boxes } = pathGraph(SHOP, new Map([['l1', '12/s']]))
    expect(boxes.find(({ id }) => id === 'listener l1')?.detail).toBe('l1 · 12/s')
  })
})

it('finds the path through a box, both ways and nothing beside it', () => {
  const graph = pathGraph({
    ...SHOP,
    listeners: [listener('l1', { poolId: 'web' }), listener('l2', { port: 443 })],
  })
  const lit = pathThrough(graph, 'member m1')
  expect(lit).toContain('client')
  expect(lit).toContain('listener l1')
  expect(lit).not.toContain('listener l2')
  expect(lit).not.toContain('member m2')
})
