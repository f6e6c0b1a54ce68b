import { byLength, type ShownLoadBalancer } from '@spout/testkit'
import type { Visit } from '@spout/testkit/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer, vipOf } from '../fixtures.ts'
import type { World } from './world.ts'

/** As many as a pool may have. */
const MEMBERS = 10_000
/** Of the document that is edited: a key in a text of 80,000 lines takes the browser itself seconds. */
const EDITED = byLength(2000, MEMBERS)
const LAST = `member-${MEMBERS - 1}`
const FIRST_PORT = 10_000
/** What people read at once is a few hundred elements; with one for each member it would be ten thousand. */
const MOST_ELEMENTS = 3000
/** To draw and to check a text of 80,000 lines takes a shared machine so long. */
const PATIENCE_MS = 90_000

/** A pool of ten thousand members: each can be reached, and none is drawn that nobody reads. */
export function manyMembers(world: () => World): void {
  let crowd: ShownLoadBalancer
  let visit: Visit
  beforeAll(async () => {
    const { system, acme } = world()
    const limits = { loadBalancers: 100, listeners: 100, pools: 100, members: 2 * MEMBERS, addresses: 100 }
    await system.api(system.access.admin, 'PUT', `/projects/${acme.projectId}/quota`, { limits })
    crowd = await system.createLoadBalancer(acme, balancer('crowd', 'http', { pool: { members: members(MEMBERS) } }))
    visit = await world().loggedIn(ACME)
    visit.page.setDefaultTimeout(PATIENCE_MS)
  })
  afterAll(async () => {
    await visit?.[Symbol.asyncDispose]()
    const { system, acme } = world()
    if (crowd !== undefined) await system.api(acme, 'DELETE', `/load-balancers/${crowd.id}`)
  })
  const show = (view: string) => visit.page.goto(`/ui/load-balancers/${crowd.id}?view=${view}`)
  const isDrawnInPart = async () =>
    expect(await visit.page.evaluate<number>(`document.getElementsByTagName('*').length`)).toBeLessThan(MOST_ELEMENTS)

  it('the last is found by its name, and drained', async () => {
    const { page } = visit
    await show('members')
    await page.getByRole('row', { name: /^member-0/ }).waitFor()
    await page.getByText('10,000 members').waitFor()
    await isDrawnInPart()
    await page.getByRole('searchbox', { name: 'Find a member of crowd-pool' }).fill(LAST)
    await page.getByRole('row', { name: /^member-0/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Drain ${LAST}` }).click()
    await page.getByRole('button', { name: `Resume ${LAST}` }).waitFor()
    const { pools } = await world().system.loadBalancer(world().acme, crowd.id)
    expect(pools[0]?.members.at(-1)).toMatchObject({ name: LAST, weight: 0 })
  })

  it('the path draws those that take nothing, and counts the others', async () => {
    const { page } = visit
    await show('path')
    const members = page.getByRole('region', { name: 'Members' })
    await members.getByText(LAST).first().waitFor()
    await members.getByText('9988 more members').waitFor()
    expect(await members.getByRole('listitem').count()).toBe(13)
    await isDrawnInPart()
  })

  it('an explanation names the first of them', async () => {
    const { page } = visit
    await page.goto('/ui/explain')
    await page.getByRole('textbox', { name: 'Address', exact: true }).fill(vipOf(crowd))
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText('member-0', { exact: true }).waitFor()
    await answer.getByText('and 9,950 more members').waitFor()
    await isDrawnInPart()
  })

  it('all are in the text to copy', async () => {
    const { page } = visit
    await show('text')
    for (const title of ['YAML', 'spout', 'openstack'])
      await page.getByRole('region', { name: title, exact: true }).getByText(LAST).first().waitFor()
    await isDrawnInPart()
  })

  it('the document is edited: a fault at its end has its line, and what is saved is all of it', async () => {
    const { page } = visit
    const { system, acme } = world()
    const own = `/load-balancers/${crowd.id}/pools/${crowd.pools[0]?.id}/members`
    await system.api(acme, 'PUT', own, { members: members(EDITED) })
    await show('edit')
    const document = page.getByRole('textbox', { name: /YAML/ })
    const text = await document.inputValue()
    const port = `port: ${FIRST_PORT + EDITED - 1}`
    const line = text.slice(0, text.indexOf(port)).split('\n').length
    await document.evaluate(putCaret, text.indexOf(port) + port.length)
    await page.keyboard.press('9')
    await page.getByText(`Line ${line}:`).waitFor()
    expect(await document.evaluate(numberedLine, line)).toBe(line)
    await page.keyboard.press('Control+Home')
    await page.getByRole('button', { name: `Line ${line}`, exact: true }).click()
    // The cursor stands behind the figure that is too much.
    await page.keyboard.press('Backspace')
    await page.getByText(`Line ${line}:`).waitFor({ state: 'detached' })
    await document.evaluate(putCaret, text.indexOf('name: crowd') + 'name: crowd'.length)
    await page.keyboard.press('s')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'crowds', exact: true }).waitFor()
    const { pools } = await system.loadBalancer(acme, crowd.id)
    expect(pools[0]?.members).toHaveLength(EDITED)
  })
}

const members = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: `member-${n}`, address: '10.0.0.11', port: FIRST_PORT + n }))

/** In the page: to type a whole text of this length anew takes the browser itself minutes. */
function putCaret(box: unknown, at: number): void {
  const text = box as { focus(): void; setSelectionRange(from: number, to: number): void }
  text.focus()
  text.setSelectionRange(at, at)
}

/** In the page: the number that stands beside a line of the text area, by where both are drawn. */
function numberedLine(box: unknown, line: number): number {
  interface Drawn {
    readonly scrollTop: number
    readonly textContent: string | null
    getBoundingClientRect(): { readonly top: number }
    readonly parentElement: { querySelector(of: string): Drawn | null } | null
  }
  const page = globalThis as unknown as { getComputedStyle(of: Drawn): Readonly<Record<string, string>> }
  const area = box as Drawn
  const numbers = area.parentElement?.querySelector('pre')
  if (numbers === null || numbers === undefined) return Number.NaN
  const of = (drawn: Drawn) => page.getComputedStyle(drawn)
  const px = (drawn: Drawn, name: string) => Number.parseFloat(of(drawn)[name] ?? '')
  const firstLine = (drawn: Drawn) =>
    drawn.getBoundingClientRect().top + px(drawn, 'borderTopWidth') + px(drawn, 'paddingTop') - drawn.scrollTop
  const at = firstLine(area) + (line - 0.5) * px(area, 'lineHeight')
  const index = Math.floor((at - firstLine(numbers)) / px(numbers, 'lineHeight'))
  return Number(numbers.textContent?.split('\n')[index])
}
