import { issueCertificate } from '@spout/testkit'
import type { Visit } from '@spout/testkit/browser'
import { expect, it } from 'vitest'
import { ACME, balancer, vipOf } from '../fixtures.ts'
import { complaints } from './readable.ts'
import type { World } from './world.ts'

type Page = Visit['page']

/** What a project may use, set by an operator; and what its programs log in with. */
export function ownProject(world: () => World): void {
  it('an operator sets a quota; what is wrong stands at its field', async () => {
    const { system, acme } = world()
    const { admin } = system.access
    await using visit = await world().loggedIn(admin, `projects/${acme.projectId}`)
    const { page } = visit
    const limitOf = async (): Promise<number> =>
      (await system.api<{ limits: { routes: number } }>(admin, 'GET', `/projects/${acme.projectId}/quota`)).limits
        .routes
    const before = await limitOf()
    await page.getByRole('button', { name: 'Change quota' }).click()
    const dialog = page.getByRole('dialog', { name: `Quota of ${ACME.project}` })
    const field = dialog.getByRole('textbox', { name: 'Routes', exact: true })
    const set = dialog.getByRole('button', { name: 'Set quota' })
    expect(await set.isDisabled()).toBe(true)
    await field.fill('1000001')
    await dialog.getByText('must be a whole number from 0 to 1,000,000').waitFor()
    expect(await set.isDisabled()).toBe(true)
    expect(await complaints(visit)).toEqual([])
    await field.fill('777')
    await set.click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('of 777', { exact: false }).waitFor()
    expect(await limitOf()).toBe(777)
    await system.api(admin, 'PUT', `/projects/${acme.projectId}/quota`, { limits: { routes: before } })
    await page.getByText('of 777', { exact: false }).waitFor({ state: 'detached' })
  })

  it('an operator limits the load balancers of a class, and takes the limit away', async () => {
    const { system, acme } = world()
    const { admin } = system.access
    const { id } = await system.api<{ id: string }>(admin, 'POST', '/load-balancer-classes', { name: 'gold' })
    await using visit = await world().loggedIn(admin, `projects/${acme.projectId}`)
    const { page } = visit
    const dialog = page.getByRole('dialog', { name: `Quota of ${ACME.project}` })
    const setTo = async (limit: string): Promise<void> => {
      await page.getByRole('button', { name: 'Change quota' }).click()
      await dialog.getByRole('textbox', { name: 'Load balancers of class gold' }).fill(limit)
      await dialog.getByRole('button', { name: 'Set quota' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    const classes = async (): Promise<readonly object[]> =>
      (await system.api<{ classes: readonly object[] }>(admin, 'GET', `/projects/${acme.projectId}/quota`)).classes
    await setTo('3')
    await page.getByText('0 of 3', { exact: true }).waitFor()
    expect(await classes()).toEqual([{ id, name: 'gold', limit: 3, used: 0 }])
    await setTo('')
    await page.getByText('0 of any number').waitFor()
    expect(await classes()).toEqual([])
    await system.api(admin, 'DELETE', `/load-balancer-classes/${id}`)
    await page.getByText('Load balancers of class gold').waitFor({ state: 'detached' })
  })

  it('an operator sees whose addresses and certificates those of all projects are', async () => {
    const { system, acme } = world()
    const { certificate, key } = issueCertificate({ names: ['whose.example.com'] })
    const shop = await system.createLoadBalancer(acme, balancer('whose', 'http'))
    const body = { name: 'whose', chain: certificate, key }
    const whose = await system.api<{ id: string }>(acme, 'POST', '/certificates', body)
    await using visit = await world().loggedIn(system.access.admin, 'networks')
    const { page } = visit
    const addresses = page.getByRole('region', { name: 'Addresses' })
    await addresses.getByRole('columnheader', { name: 'Project' }).waitFor()
    const address = addresses.getByRole('row', { name: vipOf(shop) })
    await address.getByRole('cell', { name: ACME.project, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Certificates' }).click()
    const row = page.getByRole('region', { name: 'Certificates' }).getByRole('row', { name: /^whose/ })
    await row.getByRole('cell', { name: ACME.project, exact: true }).waitFor()
    expect(await complaints(visit)).toEqual([])
    await system.api(acme, 'DELETE', `/certificates/${whose.id}`)
    await system.api(acme, 'DELETE', `/load-balancers/${shop.id}`)
  })

  it('a tenant sees the quota, and is not offered to change it', async () => {
    await using visit = await world().loggedIn(ACME, 'project')
    await visit.page.getByText('Load balancers', { exact: true }).last().waitFor()
    await visit.page.getByRole('button', { name: 'Create application credential' }).waitFor()
    expect(await visit.page.getByRole('button', { name: 'Change quota' }).count()).toBe(0)
  })

  it('an application credential is made, shown once, used, and deleted', async () => {
    await using visit = await world().loggedIn(ACME, 'project')
    const { page } = visit
    await page.getByRole('button', { name: 'Create application credential' }).click()
    const form = page.getByRole('dialog', { name: 'Create application credential' })
    await form.getByRole('textbox', { name: 'Name' }).fill('deployer')
    await form.getByRole('combobox', { name: 'Role' }).selectOption('balancer')
    await form.getByRole('combobox', { name: 'Valid' }).selectOption('7 days')
    expect(await complaints(visit)).toEqual([])
    await form.getByRole('button', { name: 'Create', exact: true }).click()
    const shown = page.getByRole('dialog', { name: 'The application credential is made' })
    await shown.waitFor()
    const login = { applicationCredentialId: await textIn(shown, 'Id'), secret: await textIn(shown, 'Secret') }
    await shown.getByRole('button', { name: 'Copy Secret' }).waitFor()
    expect(await complaints(visit)).toEqual([])
    await page.keyboard.press('Escape')
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    await shown.waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(login.secret)
    await page
      .getByRole('row', { name: /^deployer/ })
      .getByText('balancer')
      .waitFor()

    const issued = await page.request.post('/api/v1/tokens', { data: login })
    expect(issued.status()).toBe(201)
    const token: string = (await issued.json()).token
    const asked = () => page.request.get('/api/v1/load-balancers', { headers: { authorization: `Bearer ${token}` } })
    expect((await asked()).status()).toBe(200)
    await page.getByRole('button', { name: 'Delete deployer' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('row', { name: /^deployer/ }).waitFor({ state: 'detached' })
    expect((await asked()).status()).toBe(401)
  })
}

const textIn = async (dialog: ReturnType<Page['getByRole']>, name: string): Promise<string> =>
  (await dialog.getByRole('region', { name }).locator('pre').textContent()) ?? ''
