import type { ConsoleMessage, Page } from 'playwright-core'

/**
 * Chromium itself writes this for each answer of 400 and more. What the API refuses, cannot do for now, or does not answer
 * while the control plane is away, the page has to show; tests look there.
 */
const ANSWER = /^Failed to load resource: (?:the server responded with a status of (?:4\d\d|503)|net::ERR_)/

/** One user's page, and what has gone wrong in it. */
export class Visit implements AsyncDisposable {
  readonly page: Page
  readonly #origin: string
  #faults: string[] = []

  /** @param others origins of sites that the page may lead to, and whose own pages are not watched */
  constructor(origin: string, page: Page, others: readonly string[] = []) {
    const isOther = (url: string): boolean => others.some((other) => url.startsWith(`${other}/`))
    this.#origin = origin
    this.page = page
    page.on('console', (message) => this.#heard(message))
    page.on('pageerror', (error) => this.#faults.push(`error: ${error.stack ?? error.message}`))
    page.on('crash', () => this.#faults.push(`crashed: ${page.url()}`))
    page.on('request', (request) => {
      const ofPage = request.isNavigationRequest() ? request.url() : request.frame().url()
      if (isForeign(request.url(), origin) && !isOther(ofPage)) this.#faults.push(`foreign host: ${request.url()}`)
    })
  }

  takeFaults(): readonly string[] {
    const faults = this.#faults
    this.#faults = []
    return faults
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close()
  }

  #heard(message: ConsoleMessage): void {
    if (message.type() !== 'error') return
    const about = message.location().url
    if (ANSWER.test(message.text()) && !isFileOfPage(about, this.#origin)) return
    this.#faults.push(`console: ${message.text()}${about === '' ? '' : ` (${about})`}`)
  }
}

const isForeign = (url: string, origin: string): boolean => /^(https?|wss?):/.test(url) && !url.startsWith(`${origin}/`)

/** Scripts, styles and pictures have names with an ending; what the API is asked for has none. */
const isFileOfPage = (url: string, origin: string): boolean =>
  url.startsWith(`${origin}/`) && /\.\w+$/.test(new URL(url).pathname)
