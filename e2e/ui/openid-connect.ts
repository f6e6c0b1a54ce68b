import type { Visit } from '@spout/testkit/browser'
import { expect, it } from 'vitest'
import { ACME, BOLT, balancer } from '../fixtures.ts'
import type { World } from './world.ts'

/** People whom a provider of OpenID Connect vouches for. The provider is another site than the page. */
export function openIdConnect(world: () => World): void {
  it('somebody logs in there, and is back where the page was, with the project of the group', async () => {
    const { system, acme, people } = world()
    people.set('ann', { preferred_username: 'ann', groups: ['acme-devs'] })
    const { id } = await system.createLoadBalancer(acme, balancer('seen-by-ann', 'tcp', { port: 8002 }))
    await using made = new AsyncDisposableStack()
    made.defer(() => system.api(acme, 'DELETE', `/load-balancers/${id}`).then(() => {}))
    await using visit = await world().stranger()
    const { page } = visit
    await page.goto('/ui/load-balancers?text=seen')
    await logInElsewhere(visit, 'ann')
    await page.getByRole('link', { name: 'seen-by-ann' }).waitFor()
    expect(new URL(page.url()).search).toBe('?text=seen')
    await page.getByRole('button', { name: /oidc:ann: switch project or log out$/ }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByLabel('Password').waitFor()
  })

  it('is back there although the list itself comes later than the answer to the login', async () => {
    world().people.set('cleo', { preferred_username: 'cleo', groups: ['acme-devs'] })
    await using visit = await world().stranger()
    const { page } = visit
    await page.goto('/ui/load-balancers?text=nothing-like-it')
    const isIn = page.getByRole('button', { name: /oidc:cleo/ }).waitFor()
    await page.route('**/table-page-*.js', async (route) => {
      await isIn
      await route.continue()
    })
    await logInElsewhere(visit, 'cleo')
    await page.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
    expect(new URL(page.url()).search).toBe('?text=nothing-like-it')
  })

  it('who has groups of two projects chooses one, and switches', async () => {
    world().people.set('bob', { preferred_username: 'bob', groups: ['both'] })
    await using visit = await world().stranger()
    const { page } = visit
    await page.goto('/ui/')
    await logInElsewhere(visit, 'bob')
    await page.getByRole('heading', { level: 1, name: 'Choose a project' }).waitFor()
    await page.getByRole('button', { name: BOLT.project }).click()
    await page.getByRole('button', { name: new RegExp(`^${BOLT.project} oidc:bob`) }).click()
    await page.getByRole('menuitem', { name: ACME.project }).click()
    await page.getByRole('button', { name: new RegExp(`^${ACME.project} oidc:bob`) }).waitFor()
  })

  it('who has no group with a role reads which claim was looked at, and the code is in no address', async () => {
    world().people.set('eve', { preferred_username: 'eve', groups: ['choir'] })
    await using visit = await world().stranger()
    const { page } = visit
    await page.goto('/ui/')
    await logInElsewhere(visit, 'eve')
    await page.getByRole('alert').getByText('the claim groups').waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor()
  })

  it('who turns back there, and who follows a link with an answer that was never asked for, is not logged in', async () => {
    await using visit = await world().stranger()
    const { page } = visit
    await page.goto('/ui/')
    await page.getByRole('button', { name: PROVIDER }).click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('alert').getByText('access_denied').waitFor()
    await page.goto('/ui/log-in?code=planted&state=planted')
    await page.getByRole('alert').getByText('has not begun this login').waitFor()
  })

  it('while the provider is away the page says so, and takes passwords', async () => {
    const { provider } = world()
    await using visit = await world().stranger()
    const { page } = visit
    await page.goto('/ui/')
    const begin = () => page.request.post('/api/v1/session/oidc', { headers: { 'spout-page': '1' } })
    await provider.goAway()
    try {
      // What the control plane knows of the provider counts for some seconds.
      await expect.poll(async () => (await begin()).status(), { timeout: 60_000 }).toBe(503)
      await page.getByRole('button', { name: PROVIDER }).click()
      await page.getByRole('alert').getByText('Example SSO is not available').waitFor()
      await page.getByLabel('Password').waitFor()
    } finally {
      await provider.comeBack()
    }
    await expect.poll(async () => (await begin()).status(), { timeout: 60_000 }).toBe(201)
  })

  it('a session that ends in the middle of a form goes on after a login in another tab', async () => {
    world().people.set('ann', { preferred_username: 'ann', groups: ['acme-devs'] })
    await using visit = await world().stranger()
    const { page } = visit
    await page.goto('/ui/')
    await logInElsewhere(visit, 'ann')
    await page.getByRole('link', { name: 'Create load balancer' }).first().click()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('typed-before')
    await page.getByRole('textbox', { name: 'Members' }).fill('10.0.0.11:8080')
    await page.context().clearCookies({ name: 'spout-session' })
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('dialog', { name: 'Log in again' }).waitFor()
    const [other] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Log in with Example SSO in a new tab' }).click(),
    ])
    // The provider still knows who it is.
    await other.getByRole('button', { name: PROVIDER }).click()
    await other.getByRole('heading', { level: 1, name: 'Load balancers' }).waitFor()
    await other.close()
    // A headless browser shows every tab at once, so none is told that its user comes back to it.
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))')
    await page.getByRole('dialog', { name: 'Log in again' }).waitFor({ state: 'detached' })
    expect(await name.inputValue()).toBe('typed-before')
  })
}

const PROVIDER = 'Log in with Example SSO'

/** From the page to the provider's own form, which takes any password, and back. */
async function logInElsewhere({ page }: Visit, login: string): Promise<void> {
  await page.getByRole('button', { name: PROVIDER }).click()
  await page.getByPlaceholder('Enter any login').fill(login)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/ui/'))
}
