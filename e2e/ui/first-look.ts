import { request } from 'node:http'
import { expect, it } from 'vitest'
import { ACME } from '../fixtures.ts'
import type { World } from './world.ts'

const MOST_BYTES = 300 * 1024

/** What a browser that has nothing of the page loads until it shows the load balancers. */
export function firstLook(world: () => World): void {
  it('takes at most 300 KiB, compressed by gzip, from this server alone', async () => {
    await using visit = await world().loggedIn(ACME)
    await visit.page
      .getByText(/load balancers?/i)
      .last()
      .waitFor()
    const files = await visit.page.evaluate<readonly string[]>(
      `[location.href, ...performance.getEntriesByType('resource').map(({ name }) => name)]`,
    )
    const { endpoint } = world().system.access
    const ofPage = [...new Set(files)].filter((url) => url.startsWith(`${endpoint}/ui/`))
    const kinds = new Set(ofPage.map((url) => /\.(js|css)$/.exec(url)?.[1]))
    expect([...kinds].filter(Boolean).toSorted()).toEqual(['css', 'js'])
    const sizes = await Promise.all(ofPage.map(gzipBytes))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES)
  })
}

/** The length of the answer's body as it is sent. */
const gzipBytes = (url: string): Promise<number> =>
  new Promise((resolve, reject) =>
    request(url, { headers: { 'accept-encoding': 'gzip' } }, async (answer) => {
      const chunks: Buffer[] = await answer.toArray()
      resolve(chunks.reduce((sum, { length }) => sum + length, 0))
    })
      .on('error', reject)
      .end(),
  )
