import { issueCertificate } from '@spout/testkit'
import { expect, it } from 'vitest'
import { ACME } from '../fixtures.ts'
import type { World } from './world.ts'

/** A certificate as its owner handles it, in one page. */
export function certificates(world: () => World): void {
  it('is uploaded, after a key that is not its own was refused, and deleted', async () => {
    const issued = issueCertificate({ names: ['sealed.example.com'] })
    const other = issueCertificate({ names: ['other.example.com'] })
    await using visit = await world().loggedIn(ACME, 'certificates')
    const { page } = visit
    await page.getByRole('button', { name: 'Upload certificate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('sealed')
    await dialog.getByRole('textbox', { name: /^Certificate/ }).fill(issued.certificate)
    await dialog.getByRole('textbox', { name: /^Private key/ }).fill(other.key)
    await dialog.getByRole('button', { name: 'Upload' }).click()
    await dialog.getByText('belongs to no certificate of the chain').waitFor()
    await dialog.getByRole('textbox', { name: /^Private key/ }).fill(issued.key)
    await dialog.getByRole('button', { name: 'Upload' }).click()
    await dialog.waitFor({ state: 'detached' })

    const row = page.getByRole('row', { name: /^sealed/ })
    await row.getByText('nothing').waitFor()
    // A listener takes it now, which the table need not show yet.
    const { system, acme } = world()
    const { items } = await system.api<{ items: readonly { id: string; name: string }[] }>(acme, 'GET', '/certificates')
    const certificateIds = items.filter(({ name }) => name === 'sealed').map(({ id }) => id)
    const listener = { name: 'secure', protocol: 'https', port: 443, tls: { certificateIds } }
    const { id } = await system.createLoadBalancer(acme, { name: 'sealing', listeners: [listener] })
    const deletion = page.getByRole('alertdialog')
    await row.getByRole('button', { name: 'Delete sealed' }).click()
    await deletion.getByText('It cannot be deleted while it is used by sealing.').waitFor()
    await expect.poll(() => deletion.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0)
    await deletion.getByRole('button', { name: 'Keep it' }).click()

    await system.api(acme, 'DELETE', `/load-balancers/${id}`)
    await row.getByRole('button', { name: 'Delete sealed' }).click()
    await deletion.getByRole('button', { name: 'Delete', exact: true }).click()
    await row.waitFor({ state: 'detached' })
  })
}
