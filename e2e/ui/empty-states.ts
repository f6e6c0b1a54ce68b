import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { issueCertificate, type PageShell, passwordToken } from '@spout/testkit'
import type { Visit } from '@spout/testkit/browser'
import { expect, it } from 'vitest'
import { spoutShell } from '../spout-shell.ts'
import type { Person, World } from './world.ts'

type Page = Visit['page']

const FAY: Person = { user: 'fay', password: 'fay-in-the-lab', project: 'fresh' }

/** Where there is nothing yet, a page says what to type. That makes the first one, which the page then shows. */
export function emptyStates(world: () => World): void {
  it('a tenant with nothing types what each page says', async () => {
    const { system } = world()
    const { admin } = system.access
    const project = await system.api<{ id: string }>(admin, 'POST', '/projects', { name: FAY.project })
    const roles = [{ projectId: project.id, role: 'member' }]
    await system.api(admin, 'POST', '/users', { name: FAY.user, password: FAY.password, roles })
    const { token } = await passwordToken(system.access.endpoint, FAY)
    const shell = spoutShell(system, token)
    await using visit = await world().loggedIn(FAY, 'networks')
    const { page } = visit
    await types(page, 'Create one', shell)
    await page.getByRole('row', { name: /^web 10\.0\.0\.0\/24 / }).waitFor()

    await page.goto('/ui/certificates')
    const { certificate, key } = issueCertificate({ names: ['shop.example.com'] })
    writeFileSync(path.join(system.lab.directory, 'fullchain.pem'), certificate)
    writeFileSync(path.join(system.lab.directory, 'privkey.pem'), key)
    await types(page, 'spout', shell)
    await page.getByRole('row', { name: /^shop with key/ }).waitFor()

    await page.goto('/ui/load-balancers')
    await types(page, 'spout', shell)
    await page.getByRole('link', { name: 'shop', exact: true }).waitFor()

    expect(await shell("spout lb create 'two words'")).toMatchObject({ code: 0 })
    await page.getByRole('link', { name: 'two words', exact: true }).click()
    await page.getByRole('tab', { name: 'Members' }).click()
    await types(page, 'Create one', shell)
    await types(page, 'Add one', shell)
    await page.getByRole('row', { name: /^web-1 10\.0\.0\.11/ }).waitFor()

    for (const typed of [
      ...["spout lb delete 'two words'", 'spout lb delete shop', 'spout certificate delete shop'],
      ...['spout network delete web'],
    ])
      expect(await shell(typed), typed).toMatchObject({ code: 0 })
    const asAdministrator = spoutShell(system, admin.token)
    expect(await asAdministrator('spout user delete fay && spout project delete fresh')).toMatchObject({ code: 0 })
  })

  it('an operator types what a group without nodes and a project without users say', async () => {
    const { system } = world()
    const { admin } = system.access
    const shell = spoutShell(system, admin.token)
    expect(await shell('spout node-group create edge && spout project create quiet')).toMatchObject({ code: 0 })
    await using visit = await world().loggedIn(admin, 'nodes')
    const { page } = visit
    const said = await types(page, 'Enrol one', shell)
    expect(said).toMatch(/^TOKEN +\S+$/m)
    await page.goto('/ui/projects')
    await page.getByRole('link', { name: 'quiet', exact: true }).click()
    await types(page, 'Create one', shell)
    await page.getByRole('row', { name: /^ada member enabled/ }).waitFor()
  })
}

/** Types the command that the page shows under a title. @returns what it printed */
async function types(page: Page, title: string, shell: PageShell): Promise<string> {
  const text = await page.getByRole('region', { name: title, exact: true }).locator('pre').textContent()
  const { code, stdout, stderr } = await shell(`set -e\n${text}`)
  expect({ text, code, stderr }).toMatchObject({ code: 0 })
  return stdout
}
