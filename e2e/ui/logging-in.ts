import { picture } from '@spout/testkit/browser'
import { expect, it } from 'vitest'
import { ACME } from '../fixtures.ts'
import { logIn, type World } from './world.ts'

/** Who is let in, and what ends it. */
export function loggingIn(world: () => World): void {
  it('a wrong password is refused with the reason, and the right one leads to the load balancers', async () => {
    await using visit = await world().stranger()
    const { page } = visit
    await page.goto('/ui/')
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('alert').getByText('Type your user and your password.').waitFor()
    await page.reload()
    await page.getByRole('textbox', { name: 'User' }).fill(ACME.user)
    await page.getByLabel('Password').fill('wrong')
    await picture(page, 'log-in')
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('alert').getByText('The user or the password is wrong.').waitFor()
    await logIn(visit, ACME)
    await page.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
  })

  it('scripts of the page cannot read the cookie, and nothing of it is stored', async () => {
    await using visit = await world().loggedIn(ACME)
    const { page } = visit
    await page.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    const stored = await page.evaluate<string>(
      'document.cookie + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage })',
    )
    expect(stored).not.toContain(cookie!.value)
  })

  it('logging out ends the session for every page of the browser', async () => {
    await using visit = await world().loggedIn(ACME)
    const { page } = visit
    const other = await page.context().newPage()
    await other.goto('/ui/')
    await other.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
    await page.getByRole('button', { name: /log out$/ }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    for (const one of [page, other]) await one.getByLabel('Password').waitFor()
  })
}
