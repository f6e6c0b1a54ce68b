import type { AgentLink, StateLine } from '@spout/client/agent-link'
import type { LeaderTerm } from '@spout/model/leader-term'
import { Backoff, type Clock, type Logger, pause, type Random } from '@spout/runtime'

/** The servers of the link, of which one leads. */
export interface LinkServers {
  readonly count: number
  /** Goes on to the next: the present one is away, or does not lead. */
  next(): void
}

export interface FollowOptions {
  /** The link to the present server. Called for each connection, so that a renewed certificate takes effect. */
  readonly link: () => AgentLink
  /** Default: one. */
  readonly servers?: LinkServers
  /** Called with the term of each connection, before its first line. @throws if it is not to be followed */
  readonly admit?: (term: LeaderTerm | null) => Promise<void>
  /** Called when a connection was opened. The full set follows, up to its `synced`. */
  readonly onConnect: () => void
  readonly onLines: (lines: readonly StateLine[]) => void
  readonly random: Random
  readonly clock: Clock
  readonly log: Logger
}

const ONE_SERVER: LinkServers = { count: 1, next: () => {} }
const LIMITS = { firstMs: 100, mostMs: 5000 }

/**
 * Follows the state stream until `signal` aborts. When the stream ends, it asks the next server, and pauses with jittered
 * back-off after each round. Without a link no callback is called, so nothing on the node changes.
 */
export async function followLink(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, random, servers = ONE_SERVER, admit } = options
  const backoff = new Backoff({ ...LIMITS, random })
  /** Since the last full set. */
  let asked = 0
  while (!signal.aborted) {
    let connected = false
    try {
      for await (const lines of options.link().state(signal, admit)) {
        if (!connected) options.onConnect()
        connected = true
        options.onLines(lines)
        // Only a full set counts as a success. Otherwise a server that always breaks off halfway would keep the
        // back-off short.
        if (!lines.some((line) => line.type === 'synced')) continue
        backoff.reset()
        asked = 0
      }
      log.info({ event: 'link-ended' }, 'the server ended the state stream')
    } catch (error) {
      if (signal.aborted) return
      log.warn(
        { event: 'link-broken', err: error, failures: backoff.failures },
        'no link to the control plane: forwarding goes on',
      )
    }
    servers.next()
    asked += 1
    // Another server may lead already.
    if (asked % servers.count === 0) await pause(clock, backoff.next(), signal)
  }
}
