import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { QuietNetwork } from './quiet-network.ts'
import { Visit } from './visit.ts'

/** Debian's, from tools/apt-packages: no browser is downloaded. */
const PROGRAM = '/usr/bin/chromium-headless-shell'
/** No name is looked up: a page that asks a foreign host fails even where there is a way out. */
const NO_FOREIGN_HOSTS = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE 127.0.0.2'
/** The wish for less motion does not reach what the browser itself scrolls. */
const NO_GLIDING = '--disable-smooth-scrolling'
/** A machine that is shared may be slow for so long. */
const PATIENCE_MS = 30_000

/** How a page looks to its user. */
export interface Look {
  readonly width?: number
  readonly height?: number
  readonly colours?: 'light' | 'dark'
}

/**
 * A headless chromium on this machine. Each visit is a user of its own, with cookies of their own. Faults of all pages
 * are collected: a test takes and compares them.
 */
export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser
  readonly #network: QuietNetwork
  readonly #visits: Visit[] = []
  /** Origins of other sites that pages may lead to. */
  readonly #others: string[] = []

  private constructor(browser: Browser, network: QuietNetwork) {
    this.#browser = browser
    this.#network = network
  }

  static async launch(): Promise<TestBrowser> {
    const network = QuietNetwork.create()
    const args = ['--no-sandbox', '--disable-dev-shm-usage', NO_FOREIGN_HOSTS, NO_GLIDING]
    try {
      return new TestBrowser(await chromium.launch({ executablePath: network.wrapped(PROGRAM), args }), network)
    } catch (error) {
      await network[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Opens an empty page of a new user. Paths that it is asked for are of this origin, `http://127.0.0.1:PORT`. */
  async visit(origin: string, { width = 1280, height = 800, colours = 'light' }: Look = {}): Promise<Visit> {
    await this.#network.reach(Number(new URL(origin).port))
    const context = await this.#browser.newContext({
      ...{ baseURL: origin, viewport: { width, height }, colorScheme: colours },
      // Pictures and texts do not depend on the machine, nor on when they are taken of what moves.
      ...{ locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce' },
    })
    context.setDefaultTimeout(PATIENCE_MS)
    await mayReadWhatIsCopied(context)
    const visit = new Visit(origin, await context.newPage(), this.#others)
    this.#visits.push(visit)
    return visit
  }

  /**
   * Lets pages lead to another site of this machine, such as one to log in at, `http://127.0.0.2:PORT`. What goes wrong in
   * its own pages does not count.
   */
  async mayVisit(origin: string): Promise<void> {
    const { port, hostname } = new URL(origin)
    await this.#network.reach(Number(port), hostname)
    this.#others.push(origin)
  }

  /** What went wrong in any page since it was last asked: errors, refusals by the policy, requests to foreign hosts. */
  takeFaults(): readonly string[] {
    return this.#visits.flatMap((visit) => visit.takeFaults())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
    await this.#network[Symbol.asyncDispose]()
  }
}

const mayReadWhatIsCopied = (context: BrowserContext): Promise<void> =>
  context.grantPermissions(['clipboard-read', 'clipboard-write'])
