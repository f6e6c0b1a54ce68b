import type { Logger } from '@spout/runtime'

interface Observable {
  observe(): Promise<readonly string[]>
}

/** Asks every part what it lost or finds changed from outside. One that cannot look says nothing. */
export async function lostKeys(parts: readonly Observable[], log: Logger): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(parts.map((part) => part.observe()))
  const lost: string[] = []
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') lost.push(...outcome.value)
    else log.warn({ event: 'observe-failed', err: outcome.reason }, 'could not look at the data plane')
  }
  if (lost.length > 0) log.warn({ event: 'state-lost', keys: lost.length, first: lost[0] }, 'mending it')
  return lost
}
