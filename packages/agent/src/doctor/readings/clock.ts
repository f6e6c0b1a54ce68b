import type { NodePlace } from '../place.ts'
import { readLink } from './link.ts'

export interface ClockReading {
  /** Whether something keeps the kernel's clock right (`adjtimex`, STA_UNSYNC). */
  readonly synchronised: boolean
  /** How far the node's clock is ahead of the control plane's, to the second; null if none answered. */
  readonly aheadMs: number | null
}

export async function readClock(place: NodePlace): Promise<ClockReading> {
  const [{ synchronised }, { answers }] = await Promise.all([place.helper.clockState(), readLink(place)])
  const theirs = answers.flatMap((answer) => (answer.outcome === 'answered' && answer.date) || [])[0] ?? null
  return { synchronised, aheadMs: theirs === null ? null : place.now().getTime() - theirs.getTime() }
}
