import type { IncomingMessage } from 'node:http'
import { tokenOf } from '../authn/authenticate.ts'
import type { Authenticator } from '../authn/authenticator.ts'
import { sourceOf } from '../authn/login-source.ts'
import { secretSha256 } from '../authn/token-secret.ts'
import { clientAddress, type ProxyTrust } from '../http/client-address.ts'

/**
 * The line in which a request waits for its turn (`ArrivalTurns`): that of its token's project, or of its address
 * without a token. A token of another identity service has a line of its own, because its project is not known before
 * that service was asked. This admits nobody: whether the token is valid is checked in its turn.
 */
export const arrivalLine =
  (authenticator: Pick<Authenticator, 'holderOf'>, proxies: ProxyTrust) =>
  ({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string => {
    const secret = tokenOf({ headers })
    if (secret !== null) return authenticator.holderOf(secret) ?? `token ${secretSha256(secret)}`
    const header = headers[proxies.clientAddressFrom]
    const named = Array.isArray(header) ? header.join(',') : header
    return `address ${sourceOf(clientAddress(proxies, socket.remoteAddress ?? '', named))}`
  }
