const MOST_STEPS = 10

/**
 * Logs in at a provider by its own form, as a browser does.
 * @param url where the browser was sent
 * @returns where the provider sends it back to
 */
export async function logInAt(url: string, login: string): Promise<URL> {
  const { origin } = new URL(url)
  const cookies = new Map<string, string>()
  let next: { readonly url: string; readonly body?: URLSearchParams } = { url }
  for (let step = 0; step < MOST_STEPS; step++) {
    const answer = await ask(next, cookies)
    const location = answer.headers.get('location')
    if (location !== null) {
      const target = new URL(location, next.url)
      if (target.origin !== origin) return target
      next = { url: target.href }
      continue
    }
    const page = await answer.text()
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? []
    if (action === undefined) throw new Error(`${next.url} has no form: ${answer.status} ${page.slice(0, 500)}`)
    const body = new URLSearchParams({ prompt: 'login', login, password: 'any' })
    next = { url: new URL(action, next.url).href, body }
  }
  throw new Error(`${url} leads nowhere`)
}

async function ask(
  { url, body }: { readonly url: string; readonly body?: URLSearchParams },
  cookies: Map<string, string>,
): Promise<Response> {
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
  const answer = await fetch(url, {
    redirect: 'manual',
    headers: { cookie, accept: 'text/html' },
    ...(body && { method: 'POST', body }),
  })
  for (const set of answer.headers.getSetCookie()) {
    const [name = '', ...value] = (set.split(';', 1)[0] ?? '').split('=')
    cookies.set(name, value.join('='))
  }
  return answer
}
