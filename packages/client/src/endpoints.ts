const MOST = 16

/**
 * Reads the base URLs of an installation's control planes, in the order in which they are asked.
 * @param given a list, or a text that separates them by commas
 * @throws Error that says which is wrong
 */
export function parseEndpoints(given: string | readonly string[]): readonly string[] {
  const parts = [given].flat().flatMap((text) => text.split(','))
  const urls = parts.map((text) => text.trim().replace(/\/+$/, ''))
  const wrong = urls.find((url) => !isBaseUrl(url))
  if (wrong !== undefined) throw new Error(`"${wrong}" is not a URL like https://spout.example.org:9130`)
  const different = [...new Set(urls)]
  if (different.length === 0) throw new Error('names no URL')
  if (different.length > MOST) throw new Error(`names ${different.length} URLs; at most ${MOST} are asked`)
  return different
}

/** Of hosts a URL may have more than these, such as `a;b`. */
const HOST = /^(\[[0-9a-f:.]+\]|[\w.-]+)$/

/** `fetch` refuses user names in a URL, and what follows `?` or `#` would end in the middle of each path. */
function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || /[\s?#]/.test(text)) return false
  return /^https?:$/.test(url.protocol) && HOST.test(url.hostname) && url.username === '' && url.password === ''
}

/**
 * The control planes of an installation, of which any may be asked. Requests go to the one that answered last, so all
 * that share this object leave one that is gone together.
 */
export class Endpoints {
  /** At least one. */
  readonly urls: readonly string[]
  #at = 0
  #hasAnswered = false

  /** @param urls base URLs, in the order of preference */
  constructor(urls: readonly string[]) {
    this.urls = urls
  }

  /** The one that is asked first. */
  get present(): string {
    return this.urls[this.#at]!
  }

  /** All of them, in the order in which a request asks. */
  inTurn(): readonly string[] {
    return [...this.urls.slice(this.#at), ...this.urls.slice(0, this.#at)]
  }

  /** Whether it is not known to be there, and another could be asked instead. */
  isDoubtful(url: string): boolean {
    return this.urls.length > 1 && !(this.#hasAnswered && url === this.present)
  }

  answered(url: string): void {
    this.#at = this.urls.indexOf(url)
    this.#hasAnswered = true
  }

  /** The next one is asked first from now on. Of several requests that failed at one, only the first has an effect. */
  failed(url: string): void {
    if (url !== this.present) return
    this.#at = (this.#at + 1) % this.urls.length
    this.#hasAnswered = false
  }
}
