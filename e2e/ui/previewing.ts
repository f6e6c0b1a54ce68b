import { type ShownLoadBalancer, waitFor } from '@spout/testkit'
import type { Visit } from '@spout/testkit/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer, vipOf } from '../fixtures.ts'
import { loadBalancerNamed, type World } from './world.ts'

/** Somebody looks at what a change would do, and then at what it does. */
export function previewing(world: () => World): void {
  let visit: Visit
  let till: ShownLoadBalancer
  beforeAll(async () => {
    visit = await world().loggedIn(ACME)
  })
  afterAll(() => visit?.[Symbol.asyncDispose]())

  const dialog = () => visit.page.getByRole('dialog', { name: /^Preview/ })
  const document = () => visit.page.getByRole('textbox', { name: /YAML/ })

  it('says of a new load balancer its address and its nodes, and creates it afterwards', async () => {
    const { system, acme } = world()
    const { page } = visit
    await page.goto('/ui/load-balancers/new')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('counter')
    await page.getByRole('textbox', { name: /^Members/ }).fill('10.0.0.11:8080')
    await page.getByRole('button', { name: 'Preview' }).click()
    const address = await dialog()
      .getByText(/^[\d.]+$/)
      .first()
      .innerText()
    await dialog().getByText('is taken').waitFor()
    await dialog().getByRole('row', { name: /node1/ }).getByText('Added').waitFor()
    expect(await dialog().getByText('Announces it while elected').count()).toBe(2)
    expect(await dialog().innerText()).not.toContain('`')
    const { items } = await system.api<{ items: readonly { readonly name: string }[] }>(acme, 'GET', '/load-balancers')
    expect(items.map(({ name }) => name)).not.toContain('counter')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'counter' }).waitFor()
    await page.getByText(address).first().waitFor()
    await system.api(acme, 'DELETE', `/load-balancers/${(await loadBalancerNamed(world(), acme, 'counter')).id}`)
  })

  it('says that a member that leaves is drained; its connection then goes on', async () => {
    const { system, acme, client } = world()
    const { page } = visit
    till = await system.createLoadBalancer(acme, balancer('till', 'tcp'))
    const held = await waitFor(
      async () => {
        const one = await client.hold(vipOf(till), 80)
        if (one.member.endsWith('member2')) return one
        await one.drop()
        return null
      },
      { what: 'a connection to the second member' },
    )
    await page.goto(`/ui/load-balancers/${till.id}?view=edit`)
    const text = await document().inputValue()
    await document().fill(text.replace('weight: 1', 'weight: 3'))
    await page.getByRole('button', { name: 'Preview' }).click()
    await dialog().getByText('No open connection ends.').waitFor()
    await dialog()
      .getByText(/weight 1 → 3/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Back' }).click()

    const at = text.lastIndexOf('weight: 1')
    await document().fill(`${text.slice(0, at)}weight: 0${text.slice(at + 'weight: 1'.length)}`)
    await page.getByRole('button', { name: 'Preview' }).click()
    await dialog().getByText('Open connections to some members are given time to end.').waitFor()
    await dialog()
      .getByText(/After 5 minutes/)
      .waitFor()
    expect((await system.loadBalancer(acme, till.id)).generation).toBe(till.generation)
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    await waitFor(async () => (await system.loadBalancer(acme, till.id)).generation > till.generation, {
      what: 'the change',
    })
    await system.active(acme, till.id)
    expect(await held.say('still here')).toEqual({ ok: true, value: 'still here' })
    await held.drop()
  })

  it('says before a deletion what is released, and for how long', async () => {
    const { page } = visit
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const question = page.getByRole('alertdialog')
    await question.getByText('every connection ends').waitFor()
    await question.getByText(vipOf(till)).waitFor()
    await question.getByText(/is released, and free for others/).waitFor()
    await question.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
  })
}
