import { setTimeout as sleep } from 'node:timers/promises'

/** An object as an API of a cloud prints it. */
export type Attributes = Readonly<Record<string, unknown>>

/** The server's answer, whatever its status. */
export interface Answer {
  readonly status: number
  /** Empty without a body. */
  readonly body: Attributes
}

/** The server did not answer with success. `message` is the text of its fault. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const MOST_ATTEMPTS = 20
/** The pause before another attempt, where the server names none. */
const PAUSE_S = 1

/** Reads the text of a fault; null for a body that is no fault. */
export type FaultText = (body: Attributes) => string | null

/** One API of a cloud. It repeats calls that are answered with 429 or 503, after the pause that the server asks for. */
export class ApiClient {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal
  readonly #faultText: FaultText

  /** @param url all paths are below it */
  constructor(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal, faultText: FaultText) {
    this.#url = url
    this.#headers = headers
    this.#signal = signal
    this.#faultText = faultText
  }

  /**
   * All objects of a list, page by page.
   * @param path such as `/pools/ID/members`
   * @param plural the list's name in the answer, where that is not the end of the path
   * @throws ApiRefusal
   */
  async list(path: string, plural = path.slice(path.lastIndexOf('/') + 1)): Promise<readonly Attributes[]> {
    const found: Attributes[] = []
    for (let query: string | null = ''; query !== null; ) {
      const answer = await this.#call('GET', `${path}${query}`)
      found.push(...((answer[plural] as readonly Attributes[] | undefined) ?? []))
      query = nextPage(answer)
    }
    return found
  }

  /** @throws ApiRefusal */
  create(path: string, root: string, body: Attributes): Promise<Attributes> {
    return this.#one('POST', path, root, { [root]: body })
  }

  /** One object. @throws ApiRefusal */
  show(path: string, root: string): Promise<Attributes> {
    return this.#one('GET', path, root)
  }

  /** @throws ApiRefusal */
  update(path: string, root: string, body: Attributes): Promise<Attributes> {
    return this.#one('PUT', path, root, { [root]: body })
  }

  async #one(method: string, path: string, root: string, body?: object): Promise<Attributes> {
    return ((await this.#call(method, path, body))[root] ?? {}) as Attributes
  }

  async #call(method: string, path: string, body?: object): Promise<Attributes> {
    const { status, body: said } = await this.ask(method, path, body)
    if (status < 300) return said
    throw new ApiRefusal(status, this.#faultText(said) ?? `the server answered ${status}`)
  }

  /** One call. It does not throw for a refusal. @param path below the URL */
  async ask(method: string, path: string, body?: object): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: { ...this.#headers, accept: 'application/json', 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        signal: this.#signal,
      })
      const text = await response.text()
      const { status } = response
      if ((status !== 429 && status !== 503) || attempt === MOST_ATTEMPTS) return { status, body: read(text) }
      await sleep(1000 * (Number(response.headers.get('retry-after')) || PAUSE_S), undefined, { signal: this.#signal })
    }
  }
}

/**
 * The query of the next page's link. The link's host may be one that only the cloud resolves, so it is not used. The
 * list of links is not always named like the objects (`flavorprofile_links`), so any name with this end counts.
 */
function nextPage(answer: Attributes): string | null {
  const links = Object.entries(answer).find(([name]) => name.endsWith('_links'))?.[1]
  if (!Array.isArray(links)) return null
  const next = (links as readonly { readonly rel?: string; readonly href?: string }[]).find(({ rel }) => rel === 'next')
  return next?.href === undefined ? null : new URL(next.href, 'http://cloud').search
}

/** Text that is not JSON, such as an error page of a proxy, counts as no body. */
function read(text: string): Attributes {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Attributes) : {}
  } catch {
    return {}
  }
}
