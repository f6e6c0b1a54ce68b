import type { IncomingMessage } from 'node:http'
import { tokenIdOf, tokenSent } from '../authn/authenticate.ts'
import type { IssuedTokens } from '../authn/issued-tokens.ts'
import { sourceOf } from '../authn/login-source.ts'
import type { PageCookie } from '../authn/page-cookie.ts'
import { clientAddress, type ProxyTrust } from '../http/client-address.ts'

const STRANGER = 'address '

/** Whether the line is that of an address, of which a stranger can have very many. */
export const isLineOfStranger = (line: string): boolean => line.startsWith(STRANGER)

/**
 * The line in which a request waits for its turn (`ArrivalTurns`): that of its token's project, or of its address
 * without a token of ours. A text that is no token of ours has no line of its own: whoever invents one for each request
 * would have as many turns. This admits nobody: whether the token is valid is checked in its turn.
 */
export const arrivalLine =
  (authn: { readonly tokens: Pick<IssuedTokens, 'holderOf'>; readonly cookie: PageCookie }, proxies: ProxyTrust) =>
  (message: Pick<IncomingMessage, 'headers' | 'url' | 'socket' | 'hashedToken'>): string => {
    const { headers, socket } = message
    const secret = tokenSent(authn, message)
    const holder = secret === null ? null : authn.tokens.holderOf(secret, tokenIdOf(message, secret))
    if (holder !== null) return holder
    const header = headers[proxies.clientAddressFrom]
    const named = Array.isArray(header) ? header.join(',') : header
    return `${STRANGER}${sourceOf(clientAddress(proxies, socket.remoteAddress ?? '', named))}`
  }
