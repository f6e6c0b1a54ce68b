import type { Server } from 'node:net'
import { parseCidr } from '@spout/net'
import type { Clock } from '@spout/runtime'
import {
  type Authenticator,
  apiGate,
  BodyBudget,
  BYTES_OF_A_UNIT,
  type Gate,
  limitConnections,
  OpenStreams,
  RequestShares,
  RoundTurns,
} from '@spout/server'
import type { ControlPlaneConfig } from './config.ts'

/** Bodies of all that are read at a time, and of one project: the largest is 4 MiB. */
const BODIES = { mostBytes: 128 * 1024 * 1024, mostBytesOfOne: 16 * 1024 * 1024 } as const
/** What waits for slow readers of one project. */
const MOST_STREAM_BYTES = 32 * 1024 * 1024
/** Somebody without a token may be quick for so long. */
const STRANGER_BURST_SECONDS = 4

/** Requests that begin before whoever asks next has a turn: some milliseconds of work. */
const MOST_OF_ROUND = 4

export interface Limits {
  readonly gate: Gate
  readonly streams: OpenStreams
  /** In which long answers of all surfaces have their pieces made. */
  readonly turns: RoundTurns
  /** Bounds the connections of a server. */
  watch(server: Server): void
  close(): void
}

/** Everything that bounds what one project or one address can use of the API. */
export function openLimits(
  { limits: config, api }: Pick<ControlPlaneConfig, 'limits' | 'api'>,
  { authenticator, clock }: { readonly authenticator: Authenticator; readonly clock: Clock },
): Limits {
  const project = { perSecond: config.requestsPerSecond, burst: config.requestBurst }
  const stranger = {
    perSecond: config.strangerRequestsPerSecond,
    burst: config.strangerRequestsPerSecond * STRANGER_BURST_SECONDS,
  }
  const shares = new RequestShares({ clock, mostOfRound: MOST_OF_ROUND, ...project })
  return {
    gate: apiGate({ authenticator, shares, bodies: new BodyBudget(BODIES), project, stranger }),
    streams: new OpenStreams({ mostOfProject: config.watches, mostBytesOfProject: MOST_STREAM_BYTES }, (who, bytes) =>
      shares.charge(who, bytes / BYTES_OF_A_UNIT),
    ),
    turns: new RoundTurns({ clock, othersAsk: (who) => shares.othersAsk(who) }),
    watch: (server) =>
      limitConnections(server, {
        ...{ most: config.connections, mostOfSource: config.connectionsOfAddress },
        trustedProxies: api.trustedProxies.map((text) => parseCidr(text)),
      }),
    close: () => shares.close(),
  }
}
