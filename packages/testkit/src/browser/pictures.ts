import path from 'node:path'
import type { Page } from 'playwright-core'
import { THIS_CHECKOUT } from '../system/checkout.ts'

/** Pictures for documents are taken when somebody asks for them: figures and ids differ from run to run. */
const ASKED = process.env['SPOUT_PICTURES'] === '1'

/**
 * Takes a picture of what is on the screen now into `docs/ui/NAME.png`, with `SPOUT_PICTURES=1` alone.
 * @param isWhole also of what is below the edge of the screen
 */
export async function picture(page: Page, name: string, { isWhole = false } = {}): Promise<void> {
  const file = path.join(THIS_CHECKOUT, 'docs/ui', `${name}.png`)
  if (ASKED) await page.screenshot({ path: file, animations: 'disabled', fullPage: isWhole })
}
