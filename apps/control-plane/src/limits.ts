import type { Server } from 'node:http'
import { parseCidr } from '@spout/net'
import type { Clock } from '@spout/runtime'
import {
  ArrivalTurns,
  type Authenticator,
  apiGate,
  arrivalLine,
  askerBy,
  BodyBudget,
  BYTES_OF_A_UNIT,
  type ForeignTokens,
  type Gate,
  isLineOfStranger,
  KnownReads,
  limitConnections,
  OpenStreams,
  orderArrivals,
  RequestShares,
  RoundTurns,
} from '@spout/server'
import type { ControlPlaneConfig } from './config.ts'

/** Limits of request bodies being read, in total and of one project. The largest body is 8 MiB. */
const BODIES = { mostBytes: 128 * 1024 * 1024, mostBytesOfOne: 16 * 1024 * 1024 } as const
/** Limit of data buffered for slow readers of one project. */
const MOST_STREAM_BYTES = 32 * 1024 * 1024
/** How long a client without a token may burst. */
const STRANGER_BURST_SECONDS = 4

/**
 * Limit of requests that start in one round, over all projects: some milliseconds of work. It must exceed the requests
 * that arrive in a round (`ArrivalTurns`); otherwise a backlog would not shrink while requests keep coming.
 */
const MOST_OF_ROUND = 8

export interface Limits {
  readonly gate: Gate
  /** Reads that are answered ahead of the routes. */
  readonly known: KnownReads
  readonly streams: OpenStreams
  /** Schedules the pieces of long bodies and long answers, over all surfaces. */
  readonly turns: RoundTurns
  /** Limits the connections of a server, and orders the requests that arrive. */
  watch(server: Server): void
  close(): void
}

/** Creates everything that limits what one project or one address can use of the API. */
export function openLimits(
  { limits: config, api }: Pick<ControlPlaneConfig, 'limits' | 'api'>,
  {
    authenticator,
    foreign,
    clock,
  }: { readonly authenticator: Authenticator; readonly foreign: ForeignTokens | null; readonly clock: Clock },
): Limits {
  const project = { perSecond: config.requestsPerSecond, burst: config.requestBurst }
  const stranger = {
    perSecond: config.strangerRequestsPerSecond,
    burst: config.strangerRequestsPerSecond * STRANGER_BURST_SECONDS,
  }
  const shares = new RequestShares({ clock, mostOfRound: MOST_OF_ROUND, ...project })
  const trustedProxies = api.trustedProxies.map((text) => parseCidr(text))
  const turns = new RoundTurns({ clock, othersAsk: (who) => shares.othersAsk(who) })
  const known = new KnownReads({ tokens: authenticator.tokens, shares, askerOf: askerBy({ project, stranger }) })
  return {
    known,
    gate: apiGate({ authenticator, foreign, shares, bodies: new BodyBudget(BODIES), turns, project, stranger }),
    streams: new OpenStreams({
      mostOfProject: config.watches,
      mostBytesOfProject: MOST_STREAM_BYTES,
      onSent: (who, bytes) => shares.charge(who, bytes / BYTES_OF_A_UNIT),
      refuse: (error) => shares.refuse(() => error),
    }),
    turns,
    watch: (server) => {
      limitConnections(server, {
        ...{ most: config.connections, mostOfSource: config.connectionsOfAddress },
        trustedProxies,
      })
      const arrivals = new ArrivalTurns(clock, (line) => !isLineOfStranger(line))
      const { clientAddressFrom } = api
      orderArrivals(server, arrivals, arrivalLine(authenticator, { trustedProxies, clientAddressFrom }))
    },
    close: () => shares.close(),
  }
}
