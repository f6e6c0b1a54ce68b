import { askOn, type ShownLoadBalancer, startMember, waitFor } from '@spout/testkit'
import type { Visit } from '@spout/testkit/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer, quickCheck, vipOf } from '../fixtures.ts'
import type { World } from './world.ts'

const PLACE = 'tenant-a-member1'

/** The life of one load balancer, as its owner follows and steers it in a page that is never loaded again. */
export function oneLoadBalancer(world: () => World): void {
  let visit: Visit
  let shop: ShownLoadBalancer
  beforeAll(async () => {
    visit = await world().loggedIn(ACME)
  })
  afterAll(async () => {
    await requests?.stop()
    await visit?.[Symbol.asyncDispose]()
    const { lab } = world().system
    if (lab.process(`member-${PLACE}`) === null) await startMember(lab, PLACE)
  })

  const tab = (name: string) => visit.page.getByRole('tab', { name, exact: true }).click()
  const row = (name: string) => visit.page.getByRole('row', { name: new RegExp(`^${name}`) })
  /** The members that answer six requests. */
  const answering = async (): Promise<string> => {
    const answers = await world().client.members(vipOf(shop), 6)
    return [...new Set(answers.map((answer) => answer?.member ?? 'nobody'))].toSorted().join()
  }
  const answers = (members: string) =>
    waitFor(async () => (await answering()) === members, { what: `answers of ${members}` })
  /** Requests that go on, so that there is something to count while other things happen. */
  let requests: ReturnType<typeof askOn>

  it('appears in the table when somebody else creates it', async () => {
    const { system, acme, client } = world()
    shop = await system.createLoadBalancer(acme, balancer('shop', 'http', { pool: { monitor: quickCheck('tcp') } }))
    requests = askOn(() => client.http(vipOf(shop)), 50)
    await visit.page.getByRole('row', { name: 'shop' }).getByText('Serving').waitFor()
    await visit.page.getByRole('link', { name: 'shop', exact: true }).click()
    await visit.page.getByRole('heading', { level: 1, name: 'shop' }).waitFor()
  })

  it('shows a member that dies with the reason, and that it is back', async () => {
    const { lab } = world().system
    const { page } = visit
    await tab('Members')
    await page.getByRole('columnheader', { name: 'Changed' }).waitFor()
    await row('member1').getByText('up', { exact: true }).waitFor()
    await lab.stop(lab.process(`member-${PLACE}`)!, 'SIGKILL')
    await row('member1').getByText('down', { exact: true }).waitFor()
    await row('member1').getByText('connection refused').first().waitFor()
    await page.getByText('Degraded').first().waitFor()
    await startMember(lab, PLACE)
    await row('member1').getByText('up', { exact: true }).waitFor()
  })

  it('drains a member, which then gets no request, and resumes it', async () => {
    const { page } = visit
    await page.getByRole('button', { name: 'Drain member1' }).click()
    await page.getByRole('button', { name: 'Resume member1' }).waitFor()
    await answers('tenant-a-member2')
    await page.getByRole('button', { name: 'Resume member1' }).click()
    await page.getByRole('button', { name: 'Drain member1' }).waitFor()
    await answers('tenant-a-member1,tenant-a-member2')
  })

  it('shows its traffic: a rate in the table, and a chart', async () => {
    const { page } = visit
    await page.getByRole('link', { name: 'Load balancers', exact: true }).first().click()
    await page
      .getByRole('row', { name: 'shop' })
      .getByText(/^[1-9][\d.]*\/s$/)
      .waitFor()
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await tab('Charts')
    await page.locator('canvas').first().waitFor()
    await requests.stop()
  })

  it('is edited as a document; what somebody else changed meanwhile is shown as a difference', async () => {
    const { system, acme } = world()
    const { page } = visit
    await tab('Edit')
    const document = page.getByRole('textbox', { name: /YAML/ })
    const rename = async (from: string, to: string) =>
      document.fill((await document.inputValue()).replace(`name: ${from}\n`, `name: ${to}\n`))
    await rename('shop', 'store')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'store' }).waitFor()
    await page.getByRole('tabpanel').getByText('Saved.', { exact: true }).waitFor()
    await rename('store', 'mine')
    await system.api(acme, 'PATCH', `/load-balancers/${shop.id}`, { name: 'theirs' })
    await page.getByRole('alert').getByText('name: theirs').waitFor()
    expect(await document.inputValue()).toContain('name: mine\n')
    await page.getByRole('button', { name: /^Keep my text/ }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor()
    expect(await system.loadBalancer(acme, shop.id)).toMatchObject({ name: 'mine' })
  })

  it('tells who changed it, and is written as commands', async () => {
    const { page } = visit
    await tab('Changes')
    await page.getByRole('row', { name: /alice/ }).first().waitFor()
    await tab('As text')
    await page.getByText('openstack loadbalancer create').first().waitFor()
  })

  it('a request is explained hop by hop', async () => {
    const { page } = visit
    await page.getByRole('link', { name: 'Explain', exact: true }).first().click()
    await page.getByRole('textbox', { name: 'Address', exact: true }).fill(vipOf(shop))
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    const answer = page.getByRole('region', { name: 'Answer' })
    for (const text of [vipOf(shop), 'shop-listener', 'shop-pool', 'member1', 'member2'])
      await answer.getByText(text).first().waitFor()
  })

  it('is deleted after a question that says what is released', async () => {
    const { page } = visit
    await page.getByRole('link', { name: 'Load balancers', exact: true }).click()
    await page.getByRole('link', { name: 'mine', exact: true }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const question = page.getByRole('alertdialog')
    await question.getByText(vipOf(shop)).waitFor()
    await question.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
    await page.getByRole('link', { name: 'mine', exact: true }).waitFor({ state: 'detached' })
    const { client } = world()
    await waitFor(async () => !(await client.http(vipOf(shop), 80, { timeoutMs: 500 })).ok, { what: 'it to be gone' })
  })
}
