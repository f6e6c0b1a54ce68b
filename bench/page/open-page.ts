import type { TestBrowser, Visit } from '@spout/testkit/browser'

/** Whoever logs in. */
export interface Reader {
  readonly user: string
  readonly password: string
  readonly project: string
}

/** A page of a new browser, of somebody who has logged in before, at this path below `/ui/`. Nothing of it is cached. */
export async function openPage(browser: TestBrowser, endpoint: string, who: Reader, path: string): Promise<Visit> {
  const visit = await browser.visit(endpoint)
  const login = await visit.page.request.post('/api/v1/session', {
    headers: { 'spout-page': '1' },
    data: { userName: who.user, password: who.password, projectName: who.project },
  })
  if (!login.ok()) throw new Error(`${who.user} cannot log in: ${await login.text()}`)
  await visit.page.goto(`/ui/${path}`)
  return visit
}
