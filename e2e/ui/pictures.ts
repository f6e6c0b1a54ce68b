import { type ShownLoadBalancer, startMember } from '@spout/testkit'
import { picture, type Visit } from '@spout/testkit/browser'
import { it } from 'vitest'
import { ACME, vipOf } from '../fixtures.ts'
import { busyMinutes } from './shoppers.ts'
import { shownProject } from './shown-project.ts'
import { isComplete } from './walk.ts'
import type { World } from './world.ts'

type Page = Visit['page']

/** Minutes of traffic are waited for. */
const LONG_MS = 1_200_000
const NARROW = { width: 390, height: 844 } as const

/** The pictures of docs/web-page.md, with `SPOUT_PICTURES=1`: the pages as they are while something happens. */
export function pictures(world: () => World): void {
  it.runIf(process.env['SPOUT_PICTURES'] === '1')('for the documents', { timeout: LONG_MS }, async () => {
    const { system } = world()
    const shop = await shownProject(world())
    await using tenant = await world().loggedIn(ACME)
    await using operator = await world().loggedIn(system.access.admin, 'nodes')
    await using shoppers = await busyMinutes(world(), shop)
    await charts(tenant.page, shop.id)
    await removeRoute(world(), shop)
    await system.lab.stop(system.lab.process('member-tenant-a-member2')!, 'SIGKILL')
    await ofTenant(tenant.page, vipOf(shop))
    await open(operator.page, 'nodes', 'ready')
    await open(operator.page, 'address-pools', 'As a table')
    await open(operator.page, 'projects', '3 of 6')
    await open(operator.page, 'audit', 'alice')
    await problems(world(), operator.page)
    await tenant.page.setViewportSize(NARROW)
    await open(tenant.page, 'load-balancers', 'blog', 'narrow')
    await shoppers.be(0)
    await startMember(system.lab, 'tenant-a-member2')
  })
}

/** Takes the route away: what is shown next is about members. It leaves a change to show. */
async function removeRoute({ system, acme }: World, { id, listeners: [listener] }: ShownLoadBalancer): Promise<void> {
  await system.api(acme, 'PATCH', `/load-balancers/${id}/listeners/${listener?.id}`, { routes: [] })
  await system.active(acme, id)
}

/** Takes a picture of a page that follows what happens. @param text of what it reads last */
async function open(page: Page, path: string, text: string, name = path): Promise<void> {
  await page.goto(`/ui/${path}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByText(text, { exact: true }).first().waitFor()
  await picture(page, name)
}

async function charts(page: Page, id: string): Promise<void> {
  await page.goto(`/ui/load-balancers/${id}?view=charts`)
  await page.getByText('Time to answer').waitFor()
  await picture(page, 'load-balancer-charts', { isWhole: true })
}

/** What a tenant sees once a member is down. */
async function ofTenant(page: Page, vip: string): Promise<void> {
  await page.goto('/ui/load-balancers')
  const row = (name: string) => page.getByRole('row', { name })
  for (const [name, health] of [
    ['shop', 'Degraded'],
    ['mail', 'Failed'],
    ['blog', 'Serving'],
  ] as const)
    await row(name).getByText(health, { exact: true }).waitFor()
  await row('shop')
    .getByText(/[1-9][\d.]*\/s/)
    .first()
    .waitFor()
  await picture(page, 'load-balancers')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  await page.getByText(/ · \d[\d.]*\/s/).waitFor()
  for (const view of ['Path', 'Members', 'Changes', 'As text', 'Edit']) {
    await page.getByRole('tab', { name: view }).click()
    await isComplete(page)
    await picture(page, `load-balancer-${view.toLowerCase().replaceAll(' ', '-')}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await open(page, 'networks', 'shop')
  await open(page, 'certificates', 'nothing')
  await open(page, 'project', '3 of 6')
  await page.goto(`/ui/explain?address=${vip}&port=80&path=/cart`)
  await page.getByText('member1').first().waitFor()
  await picture(page, 'explain')
}

/** What an operator sees while a node does not report. */
async function problems({ system }: World, page: Page): Promise<void> {
  const agent = system.lab.process('agent-node2')!
  process.kill(agent.pid, 'SIGSTOP')
  try {
    await page.goto('/ui/problems')
    await page.getByText('Live', { exact: true }).waitFor()
    const node = page.getByRole('listitem').filter({ hasText: 'It has not reported since' })
    await node.getByText('What to do').click()
    await picture(page, 'problems')
  } finally {
    process.kill(agent.pid, 'SIGCONT')
  }
  await system.inSyncAfter('node2', Date.now())
}
