import { builtPage, Caller, freePort, startControlPlane, type Tenant, TestSystem } from '@spout/testkit'
import { type Look, TestBrowser, type Visit } from '@spout/testkit/browser'
import { OpenIdServer } from '@spout/testkit/openid-server'
import { ACME, BOLT } from '../fixtures.ts'

/** Where networks are that tenants make themselves. */
const OWN_NETWORKS = 'network.defaultPhysicalNetwork=tenant-c'

/** Whoever logs in by the form. */
export interface Person {
  readonly user: string
  readonly password: string
  readonly project: string
}

/** One lab, one browser and two tenants for all stories of the web page: to start them takes longer than a story. */
export class World implements AsyncDisposable {
  readonly system: TestSystem
  readonly browser: TestBrowser
  /** Somebody on the internet. */
  readonly client: Caller
  /** Where people log in who are no users of ours. */
  readonly provider: OpenIdServer
  readonly acme: Tenant
  readonly bolt: Tenant
  readonly #settings: readonly string[]

  private constructor(
    system: TestSystem,
    browser: TestBrowser,
    client: Caller,
    { provider, settings }: { readonly provider: OpenIdServer; readonly settings: readonly string[] },
  ) {
    this.system = system
    this.browser = browser
    this.client = client
    this.provider = provider
    this.#settings = settings
    ;[this.acme, this.bolt] = system.tenants as [Tenant, Tenant]
  }

  static async start(): Promise<World> {
    builtPage()
    const url = `http://127.0.0.1:${await freePort()}`
    const provider = await OpenIdServer.start({ redirectUri: `${url}/ui/log-in`, host: ANOTHER_SITE })
    const settings = settingsFor(url, provider)
    const system = await TestSystem.start({ tenants: [ACME, BOLT], set: settings })
    try {
      const browser = await TestBrowser.launch()
      await browser.mayVisit(provider.issuer)
      return new World(system, browser, await Caller.start(system.lab, 'client'), { provider, settings })
    } catch (error) {
      await system.destroy()
      throw error
    }
  }

  /** Who can log in at the provider, with their claims. */
  get people(): OpenIdServer['people'] {
    return this.provider.people
  }

  /** An empty page of somebody who is not logged in. */
  stranger(look?: Look): Promise<Visit> {
    return this.browser.visit(this.system.access.endpoint, look)
  }

  /** A page of somebody who has logged in before, at this path below `/ui/`. */
  async loggedIn({ user, password, project }: Person, path = '', look?: Look): Promise<Visit> {
    const visit = await this.stranger(look)
    const login = await visit.page.request.post('/api/v1/session', {
      headers: { 'spout-page': '1' },
      data: { userName: user, password, projectName: project },
    })
    if (!login.ok()) throw new Error(`${user} cannot log in: ${await login.text()}`)
    await visit.page.goto(`/ui/${path}`)
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    return visit
  }

  /** The control plane ends at once, as when its machine loses power. */
  async killControlPlane(): Promise<void> {
    await this.system.lab.stop(this.system.lab.process('control-plane')!, 'SIGKILL')
  }

  /** It starts again where it was. */
  async startControlPlane(): Promise<void> {
    await startControlPlane(this.system.lab, { set: this.#settings })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser[Symbol.asyncDispose]()
    await this.client[Symbol.asyncDispose]()
    await this.system.destroy()
    await this.provider[Symbol.asyncDispose]()
  }
}

/** An address of loopback whose pages are of another site than ours, so that a browser treats them so. */
const ANOTHER_SITE = '127.0.0.2'

/** The control plane at this URL, with people of that provider. */
const settingsFor = (url: string, { issuer, clientId, clientSecret }: OpenIdServer): readonly string[] => [
  ...[`api.port=${new URL(url).port}`, `api.publicUrl=${url}`, OWN_NETWORKS],
  ...[`oidc.issuer=${issuer}`, `oidc.clientId=${clientId}`, `oidc.clientSecret=${clientSecret}`],
  ...['oidc.name=Example SSO', 'oidc.scopes=[openid, profile, groups]'],
  `oidc.grants=${JSON.stringify([
    { group: 'acme-devs', project: ACME.project, role: 'member' },
    { group: 'both', project: ACME.project, role: 'reader' },
    { group: 'both', project: BOLT.project, role: 'reader' },
  ])}`,
]

/** Fills in the form that asks who somebody is, and waits until it is gone. */
export async function logIn({ page }: Visit, { user, password }: Person): Promise<void> {
  await page.getByRole('textbox', { name: 'User' }).fill(user)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByLabel('Password').waitFor({ state: 'detached' })
}

/** One of somebody's load balancers. */
export async function loadBalancerNamed(
  { system }: World,
  who: Tenant,
  name: string,
): Promise<{ readonly id: string }> {
  const { items } = await system.api<{ items: readonly { id: string; name: string }[] }>(who, 'GET', '/load-balancers')
  const found = items.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${who.project} has no load balancer ${name}`)
  return found
}
