import { picture, type Visit } from '@spout/testkit/browser'
import { expect, it } from 'vitest'
import { ACME, vipOf } from '../fixtures.ts'
import { loadBalancerNamed, type World } from './world.ts'

type Page = Visit['page']
type Locator = ReturnType<Page['locator']>

const NAME = 'by-keyboard'
/** More than any page has places for the keyboard. */
const MOST_STEPS = 100

/** Nothing but the keyboard, from the login to the deletion. */
export function keyboard(world: () => World): void {
  it('logs in, creates a load balancer by the form, and deletes it', async () => {
    const { system, acme, client } = world()
    await using visit = await world().stranger()
    const { page } = visit
    const { keyboard } = page
    await page.goto('/ui/')
    await goTo(page, page.getByRole('textbox', { name: 'User' }))
    await keyboard.type(ACME.user)
    await keyboard.press('Tab')
    await keyboard.type(ACME.password)
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
    await press(page, page.getByRole('link', { name: 'Create load balancer' }))
    await goTo(page, page.getByRole('textbox', { name: 'Name', exact: true }))
    await keyboard.type(NAME)
    await goTo(page, page.getByRole('textbox', { name: 'Members' }))
    await keyboard.type('10.0.0.11:8080\n10.0.0.12:8080')
    await picture(page, 'create')
    await press(page, page.getByRole('button', { name: 'Create', exact: true }))
    await page.getByRole('heading', { level: 1, name: NAME }).waitFor()
    const { id } = await loadBalancerNamed(world(), acme, NAME)
    const made = await system.active(acme, id)
    const answers = await client.members(vipOf(made), 4)
    expect(answers.filter((answer) => answer === null)).toEqual([])
    await press(page, page.getByRole('button', { name: 'Delete', exact: true }))
    await press(page, page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }))
    await page.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
    await page.getByRole('link', { name: NAME, exact: true }).waitFor({ state: 'detached' })
  })
}

declare const document: { readonly activeElement: unknown }

/** Presses Tab until this has the focus. */
async function goTo(page: Page, place: Locator): Promise<void> {
  await place.waitFor()
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    if (await place.evaluate((element: unknown) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${place}`)
}

async function press(page: Page, place: Locator): Promise<void> {
  await goTo(page, place)
  await page.keyboard.press('Enter')
}
