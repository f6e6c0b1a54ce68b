import { ask } from './ask.ts'

export type FigureSpan = 'hour' | 'day'

export type FigureName =
  | 'connectionsPerSecond'
  | 'openConnections'
  | 'bytesInPerSecond'
  | 'bytesOutPerSecond'
  | 'requestErrorsPerSecond'
  | 'requestsPerSecond'
  | `responses${1 | 2 | 3 | 4 | 5}xxPerSecond`
  | `latencyP${50 | 90 | 99}Ms`

/** The history of a load balancer's figures, the oldest step first. A series that was never counted is missing. */
export interface Figures {
  readonly stepSeconds: number
  /** The beginning of the first step, RFC 3339. */
  readonly from: string
  readonly series: Readonly<Partial<Record<FigureName, readonly (number | null)[]>>>
}

export const readFigures = (id: string, span: FigureSpan, signal: AbortSignal): Promise<Figures> =>
  ask('GET', `/load-balancers/${encodeURIComponent(id)}/figures?${new URLSearchParams({ span })}`, { signal })

/** A check of a member that began to fail, or to succeed again, as one node saw it. */
export interface MemberTransition {
  readonly at: string
  readonly nodeName: string
  readonly poolId: string
  readonly memberId: string
  readonly health: 'up' | 'down' | 'unknown'
  readonly reason: string | null
}

/** Newest last. */
export const readMemberHistory = async (id: string, signal: AbortSignal): Promise<readonly MemberTransition[]> =>
  (
    await ask<{ readonly items: readonly MemberTransition[] }>(
      'GET',
      `/load-balancers/${encodeURIComponent(id)}/member-history`,
      { signal },
    )
  ).items
