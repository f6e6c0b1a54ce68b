import { callApi, passwordToken } from '@spout/testkit'
import { logInAt, type OpenIdServer } from '@spout/testkit/openid-server'
import type { ControlPlaneProcess } from './control-plane-process.ts'

export const PUBLIC_URL = 'https://spout.example'
export const REDIRECT_URI = `${PUBLIC_URL}/ui/log-in`
export const ADMIN = { user: 'admin', password: 'a-password-for-tests', project: 'admin' }
export const LOGIN_COOKIE = '__Host-spout-login'
const SESSION_COOKIE = '__Host-spout-session'
/** Without what browsers themselves add. */
export const FROM_PAGE = { 'content-type': 'application/json', 'spout-page': '1' }

/** Settings of a control plane whose people log in at this provider. */
export const settingsFor = ({ issuer, clientId, clientSecret }: OpenIdServer): readonly string[] => [
  `admin.password=${ADMIN.password}`,
  `api.publicUrl=${PUBLIC_URL}`,
  ...[`oidc.issuer=${issuer}`, `oidc.clientId=${clientId}`, `oidc.clientSecret=${clientSecret}`],
  ...['oidc.name=Example SSO', 'oidc.scopes=[openid, profile, groups]', 'oidc.timeoutMs=60000'],
  'oidc.grants=[{group: shop-devs, project: shop, role: member}, {group: auditors, project: shop, role: reader}, {group: auditors, project: bank, role: reader}, {group: lost, project: gone, role: admin}]',
]

export interface PageAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
  readonly body: any
  /** Cookies that the browser is to keep, by name; one to be forgotten is empty. */
  readonly kept: Readonly<Record<string, string>>
}

/** A login that was begun. */
export interface Begun {
  /** Of the provider. */
  readonly url: string
  /** What the browser keeps meanwhile. */
  readonly cookie: string
}

/** Does what the web page and its browser do when somebody logs in by a provider. */
export class OidcPage {
  readonly #plane: ControlPlaneProcess
  /** What must be in no log: codes, and every cookie. */
  readonly secrets = new Set<string>()

  constructor(plane: ControlPlaneProcess) {
    this.#plane = plane
  }

  async ask(
    method: string,
    where: string,
    { cookie = '', body, headers = FROM_PAGE }: { cookie?: string; body?: object; headers?: object } = {},
  ): Promise<PageAnswer> {
    const answer = await fetch(`${this.#plane.address}/api/v1${where}`, {
      method,
      headers: { ...headers, cookie },
      ...(body && { body: JSON.stringify(body) }),
    })
    const kept = answer.headers.getSetCookie().map((set) => {
      const [name = '', value = ''] = (set.split(';', 1)[0] ?? '').split('=')
      if (value !== '') this.secrets.add(value)
      return [name, value] as const
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text), kept: Object.fromEntries(kept) }
  }

  async begin(): Promise<Begun> {
    const { status, body, kept } = await this.ask('POST', '/session/oidc')
    if (status !== 201) throw new Error(`no login was begun: ${status} ${JSON.stringify(body)}`)
    return { url: body.url, cookie: `${LOGIN_COOKIE}=${kept[LOGIN_COOKIE]}` }
  }

  /** What the provider sends the browser back with, once somebody has logged in there. */
  async answerOf({ url }: Begun, login: string): Promise<Readonly<Record<string, string>>> {
    const back = await logInAt(url, login)
    if (`${back.origin}${back.pathname}` !== REDIRECT_URI) throw new Error(`the browser was sent to ${back.href}`)
    const given = Object.fromEntries(back.searchParams)
    if (given['code'] !== undefined) this.secrets.add(given['code'])
    return given
  }

  finish({ cookie }: Pick<Begun, 'cookie'>, answer: object): Promise<PageAnswer> {
    return this.ask('POST', '/session', { cookie, body: answer })
  }

  /** All of it. */
  async logIn(login: string): Promise<PageAnswer> {
    const begun = await this.begin()
    return this.finish(begun, await this.answerOf(begun, login))
  }
}

/** The cookie of the session that an answer opened. */
export const sessionIn = ({ kept }: PageAnswer): string => `${SESSION_COOKIE}=${kept[SESSION_COOKIE]}`

/** An administrator's token, and new projects by name. */
export async function withProjects(
  { address }: ControlPlaneProcess,
  ...names: readonly string[]
): Promise<{ readonly adminToken: string; readonly projects: Readonly<Record<string, string>> }> {
  const { token: adminToken } = await passwordToken(address, ADMIN)
  const projects: Record<string, string> = {}
  for (const name of names)
    projects[name] = (await callApi<{ id: string }>(address, adminToken, 'POST', '/projects', { name })).id
  return { adminToken, projects }
}
