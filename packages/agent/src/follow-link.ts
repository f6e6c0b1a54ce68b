import type { AgentLink, StateLine } from '@spout/client/agent-link'
import { Backoff, type Clock, type Logger, pause, type Random } from '@spout/runtime'

export interface FollowOptions {
  /** The current link. Called for each connection, so that a renewed certificate takes effect. */
  readonly link: () => AgentLink
  /** Called when a connection was opened. The full set follows, up to its `synced`. */
  readonly onConnect: () => void
  readonly onLines: (lines: readonly StateLine[]) => void
  readonly random: Random
  readonly clock: Clock
  readonly log: Logger
}

const LIMITS = { firstMs: 100, mostMs: 5000 }

/**
 * Follows the state stream until `signal` aborts. When the stream ends, it reconnects with jittered back-off. Without a
 * link no callback is called, so nothing on the node changes.
 */
export async function followLink(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, random } = options
  const backoff = new Backoff({ ...LIMITS, random })
  while (!signal.aborted) {
    let connected = false
    try {
      for await (const lines of options.link().state(signal)) {
        if (!connected) options.onConnect()
        connected = true
        options.onLines(lines)
        // Only a full set counts as a success. Otherwise a server that always breaks off halfway would keep the
        // back-off short.
        if (lines.some((line) => line.type === 'synced')) backoff.reset()
      }
      log.info({ event: 'link-ended' }, 'the server ended the state stream')
    } catch (error) {
      if (signal.aborted) return
      log.warn(
        { event: 'link-broken', err: error, failures: backoff.failures },
        'no link to the control plane: forwarding goes on',
      )
    }
    await pause(clock, backoff.next(), signal)
  }
}
