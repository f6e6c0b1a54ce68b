import type { Visit } from '@spout/testkit/browser'

type Page = Visit['page']

/** The longest way to a page that people take: from the navigation, over an object, to a part of it. */
const MOST_PAGES = 60

/**
 * Opens every page that links lead to, from these on. Of pages that differ only in the id of an object one is
 * opened.
 * @returns the paths in the order of the visits
 */
export async function walk(
  page: Page,
  look: (path: string) => Promise<void>,
  from: readonly string[] = ['/ui/load-balancers'],
): Promise<readonly string[]> {
  const open = [...from]
  const known = new Set(open.map(kindOf))
  const visited: string[] = []
  for (let path = open.shift(); path !== undefined && visited.length < MOST_PAGES; path = open.shift()) {
    await page.goto(path)
    await isComplete(page)
    visited.push(path)
    await look(path)
    for (const link of await linksOf(page)) {
      if (known.has(kindOf(link))) continue
      known.add(kindOf(link))
      open.push(link)
    }
  }
  return visited
}

/** Waits until what the page reads has arrived. */
export async function isComplete(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  // What a tab shows is loaded when it is first shown.
  await page.locator('[role="tabpanel"]:empty').first().waitFor({ state: 'detached' })
  await page.getByText('Loading…').first().waitFor({ state: 'detached' })
}

/** Addresses of the page itself, without filters. */
const linksOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('a[href]')]
    .map(({ href }) => new URL(href))
    .filter(({ origin, pathname }) => origin === location.origin && pathname.startsWith('/ui/'))
    .map(({ pathname }) => pathname)`)

const kindOf = (path: string): string => path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*')
