import { startMember } from '@spout/testkit'
import { picture, type Visit } from '@spout/testkit/browser'
import { it } from 'vitest'
import { ACME, vipOf } from '../fixtures.ts'
import { dayOfRequests, eventfulProject } from './eventful.ts'
import { isComplete } from './walk.ts'
import type { World } from './world.ts'

type Page = Visit['page']

/** Some minutes of traffic are waited for. */
const LONG_MS = 600_000
const TALL = { width: 1280, height: 1100 } as const
const WIDE = { width: 1280, height: 800 } as const

/** The pictures of docs/web-page.md, with `SPOUT_PICTURES=1`: the pages as they are while something happens. */
export function pictures(world: () => World): void {
  it.runIf(process.env['SPOUT_PICTURES'] === '1')('for the documents', { timeout: LONG_MS }, async () => {
    const { system } = world()
    const shop = await eventfulProject(world())
    await using tenant = await world().loggedIn(ACME)
    await using operator = await world().loggedIn(system.access.admin, 'nodes')
    const requests = await dayOfRequests(world(), shop)
    await chartsOf(tenant.page, shop.id)
    await system.lab.stop(system.lab.process('member-tenant-a-member2')!, 'SIGKILL')
    await ofTenant(tenant.page, vipOf(shop))
    for (const path of ['nodes', 'address-pools', 'projects', 'audit']) await open(operator.page, path)
    await problemsOf(world(), operator.page)
    await tenant.page.setViewportSize({ width: 390, height: 844 })
    await open(tenant.page, 'load-balancers', 'narrow')
    await requests.stop()
    await startMember(system.lab, 'tenant-a-member2')
  })
}

/** Takes a picture of a page that has all that it reads. */
async function open(page: Page, path: string, name = path): Promise<void> {
  await page.goto(`/ui/${path}`)
  await isComplete(page)
  await picture(page, name)
}

async function chartsOf(page: Page, id: string): Promise<void> {
  await page.setViewportSize(TALL)
  await page.goto(`/ui/load-balancers/${id}?view=charts`)
  await page.getByText('Time to answer').waitFor()
  await picture(page, 'load-balancer-charts')
  await page.setViewportSize(WIDE)
}

/** What a tenant sees once a member is down. */
async function ofTenant(page: Page, vip: string): Promise<void> {
  await page.goto('/ui/load-balancers')
  await page.getByText('Degraded').first().waitFor()
  await page
    .getByText(/[1-9][\d.]*\/s/)
    .first()
    .waitFor()
  await isComplete(page)
  await picture(page, 'load-balancers')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  for (const view of ['Path', 'Members', 'Changes', 'As text', 'Edit']) {
    await page.getByRole('tab', { name: view }).click()
    await isComplete(page)
    await picture(page, `load-balancer-${view.toLowerCase().replaceAll(' ', '-')}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  for (const path of ['networks', 'certificates', 'project']) await open(page, path)
  await page.goto(`/ui/explain?address=${vip}&port=80&path=/cart`)
  await page.getByText('member1').first().waitFor()
  await picture(page, 'explain')
}

/** What an operator sees while a node does not report. */
async function problemsOf({ system }: World, page: Page): Promise<void> {
  const agent = system.lab.process('agent-node2')!
  process.kill(agent.pid, 'SIGSTOP')
  try {
    await page.goto('/ui/problems')
    await page.getByText('node2').first().waitFor()
    await isComplete(page)
    await picture(page, 'problems')
  } finally {
    process.kill(agent.pid, 'SIGCONT')
  }
  await system.inSyncAfter('node2', Date.now())
}
