import type { ShownLoadBalancer } from '@spout/testkit'
import type { Visit } from '@spout/testkit/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer } from '../fixtures.ts'
import { complaints } from './readable.ts'
import type { World } from './world.ts'

/** A document is written by keyboard, with what the schema knows of it. */
export function completion(world: () => World): void {
  let visit: Visit
  let shop: ShownLoadBalancer
  beforeAll(async () => {
    shop = await world().system.createLoadBalancer(world().acme, balancer('written', 'http'))
    visit = await world().loggedIn(ACME, `load-balancers/${shop.id}?view=edit`)
    await text().waitFor()
  })
  afterAll(async () => {
    await visit?.[Symbol.asyncDispose]()
    if (shop !== undefined) await world().system.api(world().acme, 'DELETE', `/load-balancers/${shop.id}`)
  })

  const text = () => visit.page.getByRole('textbox', { name: /YAML/ })
  const list = () => visit.page.getByRole('listbox', { name: 'What may stand here' })
  const discard = () => visit.page.getByRole('button', { name: 'Discard' }).click()
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await visit.page.keyboard.press(key)
  }
  const leftOf = async (part: ReturnType<typeof text>) => (await part.boundingBox())?.x ?? Number.NaN
  /** The name of the option that screen readers are told to be the current one. */
  const current = async () => {
    const id = await text().getAttribute('aria-activedescendant')
    return id === null ? null : visit.page.locator(`[id="${id}"]`).textContent()
  }

  it('shows fields while they are typed, and what they are for', async () => {
    await text().focus()
    await press('Control+End')
    await visit.page.keyboard.type('dns')
    await list().getByRole('option', { name: 'dnsNames' }).waitFor()
    expect(await current()).toBeNull()
    // It stands beside the line's numbers, where the word begins.
    expect(await leftOf(list())).toBeGreaterThan(await leftOf(text()))
    // The line is the last one of the window, so the list stands above it.
    const { y, height } = (await list().boundingBox())!
    expect(y + height).toBeLessThan(visit.page.viewportSize()!.height)
    await press('ArrowDown')
    expect(await current()).toContain('DNS names that are published')
    expect(await complaints(visit)).toEqual([])
    await press('Escape')
    await list().waitFor({ state: 'detached' })
    expect(await text().inputValue()).toMatch(/\ndns$/)
    await discard()
  })

  it('Ctrl+Space shows the words of a value, and Enter takes one', async () => {
    await text().focus()
    await press('Control+End')
    // The document ends with a pool.
    await visit.page.keyboard.type('    htt')
    await press('ArrowDown', 'Enter')
    await list().getByRole('option', { name: 'true' }).waitFor()
    expect(await current()).toBe('true')
    await press('ArrowDown')
    expect(await current()).toBe('falsedefault')
    await press('Enter')
    await list().waitFor({ state: 'detached' })
    expect(await text().inputValue()).toMatch(/\n {4}http2: false$/)
    await press('Backspace', 'Control+Space')
    await list().getByRole('option', { name: 'false' }).waitFor()
    await press('Escape')
    await discard()
  })

  it('a long list is fit for all readers', async () => {
    await text().fill('listeners:\n  - ')
    await press('Control+Space')
    await list().getByRole('option', { name: 'protocol' }).waitFor()
    expect(await complaints(visit)).toEqual([])
    await press('ArrowUp')
    const last = await list().getByRole('option').last().getAttribute('id')
    expect(await text().getAttribute('aria-activedescendant')).toBe(last)
    await press('Escape')
    await discard()
  })

  it('names the line of an unknown field, and what was likely meant, before anything is sent', async () => {
    const whole = await text().inputValue()
    await text().fill(`${whole}nmae: x\n`)
    const line = whole.split('\n').length
    await visit.page.getByText(`Line ${line}: Field nmae is not known here: did you mean name?`).waitFor()
    await text().fill(whole.replace('port: 80\n', 'port: 80800\n'))
    await visit.page.getByText(/^Line \d+: Field listeners\[0\]\.port: must be at most 65535$/).waitFor()
    await discard()
    expect(await text().inputValue()).toBe(whole)
  })

  it('offers the pools of the document where one is named, and marks a name that is not among them', async () => {
    await text().fill(
      'pools:\n  - name: shop-web\n    protocol: http\nlisteners:\n  - protocol: http\n    port: 80\n    defaultPool: ',
    )
    await press('Control+Space')
    await list().getByRole('option', { name: 'shop-web' }).waitFor()
    await press('Enter')
    await list().waitFor({ state: 'detached' })
    expect(await text().inputValue()).toMatch(/defaultPool: shop-web$/)
    await press('Backspace', 'Backspace')
    await press('Escape')
    const reason = 'Field listeners[0].defaultPool: Pool shop-w not found: did you mean shop-web?'
    await visit.page.getByText(`Line 7: ${reason}`).waitFor()
    await discard()
  })
}
