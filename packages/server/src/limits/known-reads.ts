import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import { tokenIdOf, tokenOf } from '../authn/authenticate.ts'
import type { IssuedTokens } from '../authn/issued-tokens.ts'
import type { FindKnown, KnownAnswer } from '../http/known-answers.ts'
import { type Asker, BYTES_OF_A_UNIT } from './admit.ts'
import type { RequestShares } from './request-shares.ts'

/** Null unless the route would answer the caller 200 with this text. */
type Read = (headers: IncomingHttpHeaders, principal: Principal) => KnownAnswer | null

/** A surface's reads whose text may be at hand, by their path; null for every other path. */
export type SurfaceReads = (path: string) => Read | null

/** A longer text is sent by its route, which minds the pace of its reader. */
const MOST_CHARACTERS = BYTES_OF_A_UNIT

export interface KnownReadsOptions {
  readonly tokens: Pick<IssuedTokens, 'session'>
  readonly shares: RequestShares
  /** The share of a caller, as at the gate. */
  readonly askerOf: (principal: Principal) => Asker
}

/**
 * Reads that need neither their route nor the gate, because nothing is left to decide: the token is ours and valid, the
 * share may start a request now, and the surface knows the answer. It counts to the share as at the gate.
 */
export class KnownReads {
  readonly #options: KnownReadsOptions
  readonly #surfaces: SurfaceReads[] = []

  constructor(options: KnownReadsOptions) {
    this.#options = options
  }

  offer(surface: SurfaceReads): void {
    this.#surfaces.push(surface)
  }

  readonly find: FindKnown = (request) => {
    const { method, url = '', headers } = request
    if (method !== 'GET' || hasBody(headers)) return null
    for (const match of this.#surfaces) {
      const read = match(url)
      if (read !== null) return this.#read(request, read)
    }
    return null
  }

  #read(request: IncomingMessage, read: Read): KnownAnswer | null {
    const principal = this.#principalOf(request)
    const known = principal && read(request.headers, principal)
    if (principal === null || known === null || known.body.length > MOST_CHARACTERS) return null
    return this.#starts(principal, known) ? known : null
  }

  /** Null for whoever is refused: the gate says why. */
  #principalOf(request: IncomingMessage): Principal | null {
    const secret = tokenOf(request)
    if (secret === null) return null
    try {
      return this.#options.tokens.session(secret, tokenIdOf(request, secret)).principal
    } catch (error) {
      if (error instanceof SpoutError) return null
      throw error
    }
  }

  #starts(principal: Principal, { body }: KnownAnswer): boolean {
    const { shares, askerOf } = this.#options
    const { who, limits } = askerOf(principal)
    const starts = limits === undefined ? shares.startsNow(who) : shares.startsNow(who, limits)
    if (starts) shares.charge(who, body.length / BYTES_OF_A_UNIT)
    return starts
  }
}

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
