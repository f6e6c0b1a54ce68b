import { askOn, issueCertificate, startMember } from '@spout/testkit'
import { picture, type Visit } from '@spout/testkit/browser'
import { it } from 'vitest'
import { ACME, balancer, quickCheck, vipOf } from '../fixtures.ts'
import { isComplete } from './walk.ts'
import type { World } from './world.ts'

/** The pictures of docs/web-page.md, with `SPOUT_PICTURES=1`: the pages as they are while something happens. */
export function pictures(world: () => World): void {
  it.runIf(process.env['SPOUT_PICTURES'] === '1')('for the documents', async () => {
    const { system, acme, client } = world()
    const create = (name: string, protocol: 'tcp' | 'http', more: object = {}) =>
      system.createLoadBalancer(acme, balancer(name, protocol, { pool: { monitor: quickCheck('tcp'), ...more } }))
    const shop = await create('shop', 'http')
    await create('blog', 'http')
    await create('mail', 'tcp')
    await addCertificates(world())
    await using tenant = await world().loggedIn(ACME)
    await using operator = await world().loggedIn(system.access.admin, 'nodes')
    await system.lab.stop(system.lab.process('member-tenant-a-member2')!, 'SIGKILL')
    const requests = askOn(() => client.http(vipOf(shop)), 20)
    await tenant.page.getByText('Degraded').first().waitFor()
    await tenant.page
      .getByText(/[1-9][\d.]*\/s/)
      .first()
      .waitFor()
    await isComplete(tenant.page)
    await picture(tenant.page, 'load-balancers')
    await tenant.page.emulateMedia({ colorScheme: 'dark' })
    await tenant.page.getByRole('link', { name: 'shop', exact: true }).click()
    for (const view of ['Path', 'Members', 'Changes', 'As text', 'Edit']) {
      await tenant.page.getByRole('tab', { name: view }).click()
      await isComplete(tenant.page)
      await picture(tenant.page, `load-balancer-${view.toLowerCase().replaceAll(' ', '-')}`)
    }
    await tenant.page.emulateMedia({ colorScheme: 'light' })
    await tenant.page.goto(`/ui/explain?address=${vipOf(shop)}&port=80&path=/cart`)
    await tenant.page.getByText('member1').first().waitFor()
    await picture(tenant.page, 'explain')
    for (const path of ['networks', 'certificates', 'project']) await open(tenant.page, path)
    for (const path of ['nodes', 'address-pools', 'projects', 'audit']) await open(operator.page, path)
    await tenant.page.setViewportSize({ width: 390, height: 844 })
    await open(tenant.page, 'load-balancers', 'narrow')
    await requests.stop()
    await startMember(system.lab, 'tenant-a-member2')
  })
}

/** Takes a picture of a page that has all that it reads. */
async function open(page: Visit['page'], path: string, name = path): Promise<void> {
  await page.goto(`/ui/${path}`)
  await isComplete(page)
  await picture(page, name)
}

/** One that ends soon, one that does not, and an authority. */
async function addCertificates({ system, acme }: World): Promise<void> {
  for (const [name, days] of [
    ['shop.example.com', 90],
    ['blog.example.com', 12],
  ] as const) {
    const { certificate: chain, key } = issueCertificate({ names: [name, `www.${name}`], days })
    await system.api(acme, 'POST', '/certificates', { name: name.split('.')[0], chain, key })
  }
  const authority = issueCertificate({ isAuthority: true, commonName: 'Staff of Acme' })
  await system.api(acme, 'POST', '/certificates', { name: 'staff', chain: authority.certificate })
}
