import type { Visit } from '@spout/testkit/browser'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ACME, balancer } from '../fixtures.ts'
import { loadBalancerNamed, logIn, type World } from './world.ts'

/** What ends while a page is open: the control plane, or the session. Nobody loads the page again. */
export function interruptions(world: () => World): void {
  let visit: Visit
  beforeEach(async () => {
    visit = await world().loggedIn(ACME)
    await isMarked(visit)
  })
  afterEach(async () => {
    await stillMarked(visit).finally(() => visit[Symbol.asyncDispose]())
  })

  it('the control plane is killed: the page says so, and shows what changed once it is back', async () => {
    const { page } = visit
    await world().killControlPlane()
    await page.getByRole('status').getByText('Reconnecting').waitFor()
    await world().startControlPlane()
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
    const { system, acme } = world()
    const { id } = await system.createLoadBalancer(acme, balancer('after-the-restart', 'tcp', { port: 8001 }))
    await page.getByRole('link', { name: 'after-the-restart' }).waitFor()
    await system.api(acme, 'DELETE', `/load-balancers/${id}`)
    await page.getByRole('link', { name: 'after-the-restart' }).waitFor({ state: 'detached' })
  })

  it('the session ends in the middle of a form: nothing that was typed is lost', async () => {
    const { page } = visit
    await page.getByRole('link', { name: 'Create load balancer' }).first().click()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('typed-before')
    await page.getByRole('textbox', { name: 'Members' }).fill('10.0.0.11:8080')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('dialog', { name: 'Log in again' }).waitFor()
    await logIn(visit, ACME)
    expect(await name.inputValue()).toBe('typed-before')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'typed-before' }).waitFor()
    const { id } = await loadBalancerNamed(world(), world().acme, 'typed-before')
    await world().system.api(world().acme, 'DELETE', `/load-balancers/${id}`)
  })
}

/** A page that is loaded again loses what is only in its memory. */
const isMarked = ({ page }: Visit) => page.evaluate('globalThis.isSamePage = true')
const stillMarked = async ({ page }: Visit) => expect(await page.evaluate('globalThis.isSamePage')).toBe(true)
