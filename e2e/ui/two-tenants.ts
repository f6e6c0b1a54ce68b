import type { ShownLoadBalancer } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, BOLT, balancer, vipOf } from '../fixtures.ts'
import { walk } from './walk.ts'
import type { World } from './world.ts'

/** Two tenants side by side: neither finds anything of the other, in no page and in no answer behind it. */
export function twoTenants(world: () => World): void {
  let till: ShownLoadBalancer
  let vault: ShownLoadBalancer
  beforeAll(async () => {
    const { system, acme, bolt } = world()
    till = await system.createLoadBalancer(acme, balancer('till-of-acme', 'http'))
    vault = await system.createLoadBalancer(bolt, balancer('vault-of-bolt', 'http'))
  })
  afterAll(async () => {
    const { system, acme, bolt } = world()
    await system.api(acme, 'DELETE', `/load-balancers/${till.id}`)
    await system.api(bolt, 'DELETE', `/load-balancers/${vault.id}`)
  })

  it.each([
    ['acme', () => ACME, () => namesOf(world().acme, till), () => namesOf(world().bolt, vault)],
    ['bolt', () => BOLT, () => namesOf(world().bolt, vault), () => namesOf(world().acme, till)],
  ])('%s walks through all pages', async (_, who, own, foreign) => {
    await using visit = await world().loggedIn(who())
    const read: string[] = []
    visit.page.on('response', (response) => {
      const isStream = response.headers()['content-type']?.startsWith('text/event-stream') === true
      if (response.url().includes('/api/') && !isStream)
        void response.text().then(
          (text) => read.push(text),
          () => {},
        )
    })
    const pages = await walk(visit.page, async () => {
      read.push(await visit.page.content())
    })
    const all = withoutExamples(read.join('\n'))
    // It does look where names would be.
    expect(own().filter((name) => !all.includes(name))).toEqual([])
    expect(foreign().filter((name) => all.includes(name))).toEqual([])
    expect(pages.length).toBeGreaterThan(3)
  })

  it('the address of a page of the other says that there is none', async () => {
    await using visit = await world().loggedIn(BOLT, `load-balancers/${till.id}`)
    await visit.page.getByRole('heading', { level: 1, name: /not found/i }).waitFor()
    await visit.page.getByText('not found. It may have been deleted').waitFor()
    expect(await visit.page.content()).not.toContain('till-of-acme')
  })

  it('a tenant is not let into the pages of operators, and no link leads there', async () => {
    await using visit = await world().loggedIn(ACME)
    for (const path of ['nodes', 'address-pools', 'projects', 'problems', 'audit']) {
      expect(await visit.page.getByRole('navigation').locator(`a[href="/ui/${path}"]`).count()).toBe(0)
      await visit.page.goto(`/ui/${path}`)
      await visit.page.getByRole('heading', { level: 1, name: 'Not allowed' }).waitFor()
    }
  })
}

/** An example in an empty field, and the ends of the operator's pool, are nobody's. */
const withoutExamples = (text: string): string => text.replaceAll(/ placeholder="[^"]*"|"(?:first|last)":"[^"]*"/g, '')

const namesOf = ({ projectId, project, user }: World['acme'], shown: ShownLoadBalancer): readonly string[] => [
  ...[projectId, project, user, shown.id],
  ...[shown.pools[0]?.name ?? '', shown.pools[0]?.members[0]?.id ?? '', vipOf(shown)],
]
