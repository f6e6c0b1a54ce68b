import { expect, it } from 'vitest'
import { ACME, balancer } from '../fixtures.ts'
import { isComplete } from './walk.ts'
import type { World } from './world.ts'

/** Names as a tenant may choose them. Each is text for people who look, whatever it looks like to a browser. */
const NAMES = [
  '<img src=x onerror=globalThis.wasRun=true>',
  '"><script>globalThis.wasRun=true</script>',
  'javascript:globalThis.wasRun=true',
  '{{constructor.constructor("return 1")()}}',
  'موازن الأحمال',
] as const

export function hostileText(world: () => World): void {
  it('names with markup and right-to-left text are shown as they are, and change nothing else', async () => {
    const { system, acme } = world()
    const ids: string[] = []
    for (const [index, name] of NAMES.entries()) {
      const { id } = await system.createLoadBalancer(acme, {
        ...balancer('hostile', 'tcp', { port: 7001 + index }),
        name,
      })
      ids.push(id)
    }
    await using visit = await world().loggedIn(ACME)
    const { page } = visit
    for (const name of NAMES) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
      await isComplete(page)
      expect(await page.title()).toContain(name)
      await page.goBack()
    }
    expect(await page.evaluate('globalThis.wasRun')).toBeUndefined()
    for (const id of ids) await system.api(acme, 'DELETE', `/load-balancers/${id}`)
    for (const name of NAMES) await page.getByRole('link', { name, exact: true }).waitFor({ state: 'detached' })
  })
}
