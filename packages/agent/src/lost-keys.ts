import type { Logger } from '@spout/runtime'

export interface Observable {
  observe(pressing?: AbortSignal): Promise<readonly string[]>
  /** Whether the last `observe` ended early, because changes waited. */
  readonly observing?: boolean
}

/**
 * The keys whose state is lost, or was changed by somebody else, as the parts observe it. A part that fails is logged.
 * @param pressing aborts when changes wait
 */
export async function lostKeys(
  parts: readonly Observable[],
  log: Logger,
  pressing?: AbortSignal,
): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(parts.map((part) => part.observe(pressing)))
  const lost: string[] = []
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') lost.push(...outcome.value)
    else log.warn({ event: 'observe-failed', err: outcome.reason }, 'the data plane cannot be observed')
  }
  if (lost.length > 0)
    log.warn(
      { event: 'state-lost', keys: lost.length, first: lost[0] },
      'entries were lost from the kernel or a daemon; applying them again',
    )
  return lost
}
