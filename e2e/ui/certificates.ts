import { issueCertificate } from '@spout/testkit'
import { it } from 'vitest'
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
    await row.getByRole('button', { name: 'Delete sealed' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await row.waitFor({ state: 'detached' })
  })
}
