import { Resolver } from 'node:dns/promises'

export interface TextResolverOptions {
  /** Addresses of recursive resolvers, each with its port if that is not 53: `192.0.2.53`, `[2001:db8::53]:5353`. */
  readonly servers: readonly string[]
  /** For the first attempt; c-ares doubles it for the second. */
  readonly timeoutMs?: number
}

/** The outcome of a question for TXT records. */
export type TextAnswer =
  /** Empty when the name, or its TXT records, do not exist. */
  | { readonly texts: readonly string[] }
  /** @property why the reason why it is not known, for people */
  | { readonly why: string }

const TIMEOUT_MS = 2000
const TRIES = 2
/** The most texts of one name that are read. A DNS message has at most 64 KiB. */
const MOST_TEXTS = 1000

const REASONS: Readonly<Record<string, string>> = {
  ETIMEOUT: 'the resolvers did not answer in time',
  ECONNREFUSED: 'the resolvers refuse connections',
  ESERVFAIL: 'the resolvers cannot reach its name servers, or these answer wrongly (SERVFAIL)',
  EREFUSED: 'the resolvers refuse the question (REFUSED)',
}

/**
 * Asks recursive resolvers for TXT records. It contacts the configured servers and nobody else, whatever a name or an
 * answer says; the machine's own hosts and search domains play no part.
 */
export class TextResolver {
  readonly #resolver: Resolver

  constructor({ servers, timeoutMs = TIMEOUT_MS }: TextResolverOptions) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries: TRIES })
    this.#resolver.setServers(servers)
  }

  /** Never rejects. */
  async texts(name: string): Promise<TextAnswer> {
    try {
      const records = await this.#resolver.resolveTxt(name)
      return { texts: records.slice(0, MOST_TEXTS).map((parts) => parts.join('')) }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? ''
      if (code === 'ENOTFOUND' || code === 'ENODATA') return { texts: [] }
      return { why: REASONS[code] ?? `the resolvers failed (${/^[A-Z]{1,32}$/.test(code) ? code : 'unknown'})` }
    }
  }

  /** Ends the questions under way. */
  cancel(): void {
    this.#resolver.cancel()
  }
}
