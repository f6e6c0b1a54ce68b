import type { Principal } from '@spout/admission/contract'
import type { FastifyRequest } from 'fastify'
import { isAdmin } from '../authn/access.ts'
import { sessionOf, toItsSender, tokenSent } from '../authn/authenticate.ts'
import type { Authenticator } from '../authn/authenticator.ts'
import type { ForeignTokens } from '../authn/foreign-session.ts'
import { sourceOf } from '../authn/login-source.ts'
import type { Gate } from '../http/host.ts'
import type { RoundTurns } from '../turns/round-turns.ts'
import { shareOf } from '../turns/share-of.ts'
import { type Asker, admitByHeaders } from './admit.ts'
import type { BodyBudget } from './body-budget.ts'
import type { RequestShares, ShareLimits } from './request-shares.ts'

export interface ApiGateOptions {
  readonly authenticator: Authenticator
  /** Tokens that are not ours; null: they are refused. */
  readonly foreign?: ForeignTokens | null
  readonly shares: RequestShares
  readonly bodies: BodyBudget
  /** Schedules the pieces of long bodies, and those of long answers. */
  readonly turns: RoundTurns
  /** Limits of each project. */
  readonly project: ShareLimits
  /** Limits of each address without a token. */
  readonly stranger: ShareLimits
}

/** Operators get more: they must be able to repair what tenants cannot. */
const OPERATORS_FACTOR = 10

/** The share of a caller, and its limits. */
export function askerBy({ project, stranger }: Pick<ApiGateOptions, 'project' | 'stranger'>) {
  const operator: ShareLimits = {
    perSecond: project.perSecond * OPERATORS_FACTOR,
    burst: project.burst * OPERATORS_FACTOR,
  }
  return (principal: Principal): Asker => {
    const who = shareOf(principal)
    if (isAdmin(principal)) return { who, limits: operator }
    return { who, limits: principal.projectId === null ? stranger : project }
  }
}

/** The gate of the surfaces that tenants reach. The token's project is the share of a request. */
export function apiGate(options: ApiGateOptions): Gate {
  const { authenticator, foreign = null, shares, bodies, turns, project, stranger } = options
  const askerOf = askerBy({ project, stranger })
  const strangerOf = (request: FastifyRequest): Asker => ({
    who: `address ${sourceOf(request.ip)}`,
    limits: stranger,
  })
  const askElsewhere = async (request: FastifyRequest, tokens: ForeignTokens, secret: string): Promise<Asker> => {
    // A stranger must not be able to make us ask about any number of invented tokens.
    if (!tokens.isKnown(secret)) await shares.turn(`address ${sourceOf(request.ip)}`, stranger)
    try {
      request.foreignSession = await tokens.open(secret)
    } catch (error) {
      throw toItsSender(request, error)
    }
    return askerBySession(request)
  }
  const known = (request: FastifyRequest): Asker | Promise<Asker> => {
    const secret = foreign === null ? null : tokenSent(authenticator, request)
    return foreign === null || secret === null || authenticator.tokens.issued(secret)
      ? askerBySession(request)
      : askElsewhere(request, foreign, secret)
  }
  const askerBySession = (request: FastifyRequest): Asker => askerOf(sessionOf(authenticator, request).principal)
  return (scope, isOpen) =>
    admitByHeaders(scope, {
      shares,
      bodies,
      strangerOf,
      turn: (who) => turns.next(who),
      askerOf: (request) =>
        isOpen(request.routeOptions.url ?? '', request.method) ? strangerOf(request) : known(request),
    })
}
