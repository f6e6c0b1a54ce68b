import { expect, it } from 'vitest'
import { ACME, balancer } from '../fixtures.ts'
import type { World } from './world.ts'

/** What the page asks for as people go from one part of it to another. */
export function thereAndBack(world: () => World): void {
  it('a load balancer is opened and left again: the table is not read anew, and misses nothing', async () => {
    const { system, acme } = world()
    await using visit = await world().loggedIn(ACME)
    const { page } = visit
    const { id } = await system.createLoadBalancer(acme, balancer('there', 'tcp', { port: 7201 }))
    await page.getByRole('link', { name: 'there', exact: true }).waitFor()
    let reads = 0
    page.on('request', (request) => {
      if (request.url().includes('/overview/load-balancers')) reads++
    })
    const stream = (isOfOne: boolean) =>
      page.waitForResponse(
        (answer) =>
          answer.url().includes('/api/v1/events') && decodeURIComponent(answer.url()).includes(id) === isOfOne,
      )
    const opened = stream(true)
    await page.getByRole('link', { name: 'there', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'there' }).waitFor()
    await opened
    await system.api(acme, 'PATCH', `/load-balancers/${id}`, { name: 'back' })
    await page.getByRole('heading', { level: 1, name: 'back' }).waitFor()
    const left = stream(false)
    await page.goBack()
    await page.getByRole('link', { name: 'back', exact: true }).waitFor()
    await left
    await system.api(acme, 'PATCH', `/load-balancers/${id}`, { name: 'again' })
    await page.getByRole('link', { name: 'again', exact: true }).waitFor()
    await system.api(acme, 'DELETE', `/load-balancers/${id}`)
    await page.getByRole('link', { name: 'again', exact: true }).waitFor({ state: 'detached' })
    // Each of these waits came after the events that could have made the page read.
    expect(reads).toBe(0)
  })
}
