import { setTimeout as sleep } from 'node:timers/promises'

/** An object as the Octavia API prints it. */
export type Attributes = Readonly<Record<string, unknown>>

/** What the server said, whatever it was. */
export interface Answer {
  readonly status: number
  /** Empty without a body. */
  readonly body: Attributes
}

/** The server answered, and not with success. `message` is the text of its fault. */
export class OctaviaRefusal extends Error {
  override readonly name = 'OctaviaRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const MOST_ATTEMPTS = 20
/** A server that says nothing of a pause. */
const PAUSE_S = 1

/** The Octavia v2 API of one cloud. A server that asks for a pause gets it. */
export class OctaviaClient {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal

  /** @param endpoint of the catalog: with the version or without it */
  constructor(endpoint: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.#url = `${endpoint.replace(/\/+$/, '').replace(/\/v2(\.0)?(\/lbaas)?$/, '')}/v2/lbaas`
    this.#headers = headers
    this.#signal = signal
  }

  /** All objects of a list, page by page. @param path such as `/pools/ID/members` @throws OctaviaRefusal */
  async list(path: string): Promise<readonly Attributes[]> {
    const plural = path.slice(path.lastIndexOf('/') + 1)
    const found: Attributes[] = []
    for (let query: string | null = ''; query !== null; ) {
      const answer = await this.#call('GET', `${path}${query}`)
      found.push(...((answer[plural] as readonly Attributes[] | undefined) ?? []))
      query = nextPage(answer[`${plural}_links`])
    }
    return found
  }

  /** @throws OctaviaRefusal */
  async create(path: string, root: string, body: Attributes): Promise<void> {
    await this.#call('POST', path, { [root]: body })
  }

  async #call(method: string, path: string, body?: object): Promise<Attributes> {
    const { status, body: said } = await this.ask(method, path, body)
    if (status < 300) return said
    throw new OctaviaRefusal(status, faultText(said) ?? `the server answered ${status}`)
  }

  /** One call, whatever it is answered. @param path below `/v2/lbaas` */
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

/** The query of the next page. The host of the link may be one that only the cloud knows. */
function nextPage(links: unknown): string | null {
  if (!Array.isArray(links)) return null
  const next = (links as readonly { readonly rel?: string; readonly href?: string }[]).find(({ rel }) => rel === 'next')
  return next?.href === undefined ? null : new URL(next.href, 'http://cloud').search
}

/** No JSON, such as a page of a proxy, counts as no body. */
function read(text: string): Attributes {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Attributes) : {}
  } catch {
    return {}
  }
}

const faultText = ({ faultstring }: Attributes): string | null => (typeof faultstring === 'string' ? faultstring : null)
