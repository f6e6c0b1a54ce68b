import type { LoadBalancer } from '@spout/model'
import { type ShownLoadBalancer, waitFor } from '@spout/testkit'
import type { Visit } from '@spout/testkit/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer, member, PORT, vipOf } from '../fixtures.ts'
import { complaints } from './readable.ts'
import type { World } from './world.ts'

const NAME = 'rolled-out'
const READER = { user: 'rita', password: 'rita-who-only-looks', project: ACME.project } as const

/** A route sends all requests to the version that runs, and none to the next one. */
const twoVersions = (): object => ({
  ...balancer(NAME, 'http', {
    listener: {
      routes: [
        { name: 'versions', action: { type: 'forward', pools: [{ pool: 'stable' }, { pool: 'canary', weight: 0 }] } },
      ],
      defaultPool: 'stable',
    },
  }),
  pools: (['stable', 'canary'] as const).map((name, at) => ({
    ...{ name, protocol: 'http', members: [member(at === 0 ? 1 : 2, PORT.http)] },
  })),
})

/** A new version gets its share of the requests by a slider, and none before that is applied. */
export function canary(world: () => World): void {
  let visit: Visit
  let shop: ShownLoadBalancer
  let readerId: string
  beforeAll(async () => {
    const { system, acme } = world()
    shop = await system.createLoadBalancer(acme, twoVersions())
    const { id } = await system.api<{ readonly id: string }>(system.access.admin, 'POST', '/users', {
      ...{ name: READER.user, password: READER.password, roles: [{ projectId: acme.projectId, role: 'reader' }] },
    })
    readerId = id
    visit = await world().loggedIn(ACME, `load-balancers/${shop.id}`)
  })
  afterAll(async () => {
    await visit?.[Symbol.asyncDispose]()
    const { system, acme } = world()
    if (shop !== undefined) await system.api(acme, 'DELETE', `/load-balancers/${shop.id}`)
    if (readerId !== undefined) await system.api(system.access.admin, 'DELETE', `/users/${readerId}`)
  })

  const panel = (of = 'route versions') => visit.page.getByRole('region', { name: `Traffic of ${of}` })
  const slider = (of: string) => panel().getByRole('slider', { name: of })
  const button = (name: string) => panel().getByRole('button', { name })
  const stored = (): Promise<LoadBalancer> => world().system.api(world().acme, 'GET', `/load-balancers/${shop.id}`)
  /** What the route gives to `stable` and `canary`. */
  const weights = async (): Promise<string> => {
    const { action } = (await stored()).listeners[0]!.routes[0]!
    return action.type === 'forward' ? action.pools.map(({ weight }) => weight).join(':') : ''
  }
  const answering = async (): Promise<string> => {
    const answers = await world().client.members(vipOf(shop), 20)
    return [...new Set(answers.map((answer) => answer?.member ?? 'nobody'))].toSorted().join()
  }
  const answers = (members: string) =>
    waitFor(async () => (await answering()) === members, { what: `answers of ${members}` })

  it('sliders are opened where a route has several pools, and are fit for all readers', async () => {
    await visit.page.getByRole('button', { name: 'Shift traffic of route versions' }).click()
    await slider('canary').waitFor()
    expect(await slider('canary').getAttribute('aria-valuetext')).toBe('0%')
    expect(await complaints(visit)).toEqual([])
  })

  it('moved by keyboard, they show what each would get; nothing is sent, and it is undone', async () => {
    await slider('canary').focus()
    for (const key of ['PageUp', 'PageUp', 'ArrowRight']) await visit.page.keyboard.press(key)
    await panel().getByText('21 %', { exact: true }).waitFor()
    await panel().getByText('79 %', { exact: true }).waitFor()
    await panel().getByText('Not applied yet.').waitFor()
    expect(await weights()).toBe('1:0')
    await button('Undo').click()
    await panel().getByText('100 %', { exact: true }).waitFor()
    expect(await button('Apply').isDisabled()).toBe(true)
  })

  it('what is applied is what clients get, and the former weights are put back', async () => {
    await answers('tenant-a-member1')
    await slider('canary').focus()
    await visit.page.keyboard.press('End')
    await button('Apply').click()
    await button('Put the former weights back').waitFor()
    await panel().getByText('Applied.', { exact: true }).waitFor()
    expect(await weights()).toBe('0:1')
    await answers('tenant-a-member2')
    await button('Put the former weights back').click()
    await slider('stable').and(visit.page.locator('[aria-valuetext="100%"]')).waitFor()
    expect(await weights()).toBe('1:0')
    await answers('tenant-a-member1')
  })

  it('what somebody else set meanwhile is shown as a difference; what was chosen stays', async () => {
    const { system, acme } = world()
    await slider('canary').focus()
    await visit.page.keyboard.press('PageUp')
    const listener = (await stored()).listeners[0]!
    const { id, name, action } = listener.routes[0]!
    const pools = action.type === 'forward' ? action.pools.map(({ poolId }) => ({ poolId, weight: 1 })) : []
    const path = `/load-balancers/${shop.id}/listeners/${listener.id}/routes/${id}`
    await system.api(acme, 'PUT', path, { name, action: { type: 'forward', pools } })
    await panel().getByRole('alert').getByText('canary: weight 1').waitFor()
    expect(await slider('canary').getAttribute('aria-valuetext')).toBe('10%')
    expect(await panel().getByText('50 % now').count()).toBe(2)
    expect(await complaints(visit)).toEqual([])
    await button('Keep my choice').click()
    await button('Apply').click()
    await waitFor(async () => (await weights()) === '9:1', { what: 'the chosen weights' })
    await panel().getByText('10 % now').waitFor()
  })

  it('what somebody else changed elsewhere meanwhile stays theirs', async () => {
    const { system, acme } = world()
    await slider('canary').focus()
    await visit.page.keyboard.press('PageUp')
    await system.api(acme, 'PATCH', `/load-balancers/${shop.id}`, { description: 'of somebody else' })
    await button('Apply').click()
    await waitFor(async () => (await weights()) === '4:1', { what: 'the chosen weights' })
    expect(await stored()).toMatchObject({ description: 'of somebody else' })
  })

  it('members of a pool have them, too', async () => {
    const { system, acme } = world()
    const pool = shop.pools[0]!
    const members = [member(1, PORT.http), member(2, PORT.http)]
    await system.api(acme, 'PUT', `/load-balancers/${shop.id}/pools/${pool.id}/members`, { members })
    await visit.page.getByRole('tab', { name: 'Members' }).click()
    await visit.page.getByRole('button', { name: 'Shift traffic of pool stable' }).click()
    const own = panel('pool stable')
    await own.getByRole('slider', { name: 'member2' }).focus()
    await visit.page.keyboard.press('PageDown')
    await own.getByRole('button', { name: 'Apply' }).click()
    await own.getByText('40 % now').waitFor()
    expect((await stored()).pools[0]!.members.map(({ weight }) => weight)).toEqual([3, 2])
  })

  it('who may only look is offered none', async () => {
    await using reader = await world().loggedIn(READER, `load-balancers/${shop.id}`)
    const offers = reader.page.getByRole('button', { name: /^Shift traffic/ })
    await reader.page.getByRole('region', { name: 'The path of a connection' }).waitFor()
    expect(await offers.count()).toBe(0)
    await reader.page.getByRole('tab', { name: 'Members' }).click()
    await reader.page.getByRole('region', { name: 'Members of stable' }).waitFor()
    expect(await offers.count()).toBe(0)
  })
}
