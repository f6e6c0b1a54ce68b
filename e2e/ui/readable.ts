import { waitFor } from '@spout/testkit'
import { barriers, beyondTheEdge, paleTexts, smallTexts, type Visit } from '@spout/testkit/browser'
import { expect, it } from 'vitest'
import { balancer } from '../fixtures.ts'
import { walk } from './walk.ts'
import type { World } from './world.ts'

/** A telephone, held upright. */
const NARROW = { width: 390, height: 844 } as const
/** The parts of the page of one load balancer, of which each is chosen by a tab. */
const VIEWS = ['path', 'members', 'charts', 'changes', 'text', 'edit'] as const
const WIDE = { width: 1280, height: 800 } as const

/** Every page, for those who cannot see it, who see it badly, and on a small screen. */
export function readable(world: () => World): void {
  it('without being logged in', async () => {
    await using visit = await world().stranger()
    await visit.page.goto('/ui/')
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    expect(await complaints(visit)).toEqual([])
  })

  it('all of them, as an operator, who sees most', async () => {
    const { system, acme } = world()
    const { id } = await system.createLoadBalancer(acme, balancer('read-by-all', 'http'))
    await using visit = await world().loggedIn(system.access.admin)
    const found: string[] = []
    const look = async (path: string) => {
      found.push(...(await complaints(visit)).map((line) => `${path}: ${line}`))
    }
    const pages = await walk(visit.page, look, [
      '/ui/load-balancers',
      ...VIEWS.map((view) => `/ui/load-balancers/${id}?view=${view}`),
    ])
    expect(found).toEqual([])
    for (const path of ['networks', 'certificates', 'explain', 'nodes', 'address-pools', 'projects', 'problems'])
      expect(pages).toContain(`/ui/${path}`)
    await system.api(acme, 'DELETE', `/load-balancers/${id}`)
  })
}

/** What is wrong with the page as it is now, in light, in dark and narrow. It stays loaded. */
export async function complaints({ page }: Visit): Promise<readonly string[]> {
  // For 7 s react-aria tells of a button that waited, by an element that axe takes for a picture without a text.
  await page.locator('[data-live-announcer] [role="img"]').first().waitFor({ state: 'detached' })
  await page.emulateMedia({ colorScheme: 'dark' })
  const found = (await paleTexts(page)).map((line) => `dark: ${line}`)
  await page.emulateMedia({ colorScheme: 'light' })
  found.push(...(await barriers(page)), ...(await smallTexts(page)))
  await page.setViewportSize(NARROW)
  found.push(...(await leftBeyondTheEdge(page)).map((line) => `narrow: ${line}`))
  await page.setViewportSize(WIDE)
  return found
}

/** What is still there when the page had time to draw itself anew. */
async function leftBeyondTheEdge(page: Visit['page']): Promise<readonly string[]> {
  await waitFor(async () => (await beyondTheEdge(page)).length === 0, { what: 'all to fit', timeoutMs: 5000 }).catch(
    () => {},
  )
  return beyondTheEdge(page)
}
