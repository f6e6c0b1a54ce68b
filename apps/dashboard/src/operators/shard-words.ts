import type { ShardReport } from '@spout/model/node-report'
import type { Tone } from '../parts/badge.tsx'

const TONES: Readonly<Record<ShardReport['state'], Tone>> = {
  master: 'ok',
  backup: 'quiet',
  fault: 'bad',
  stopped: 'warn',
}

type Part = Pick<ShardReport, 'state' | 'lastMove'>

/**
 * A node's part in a shard. A drained node is in state `fault`, which is what somebody asked for, and no fault, unless
 * the node gave the shard up since it is not well.
 * @param isDraining whether somebody drains the node
 */
export function partWord(
  { state, lastMove }: Part,
  isDraining: boolean,
): { readonly word: string; readonly tone: Tone } {
  const isWell = !lastMove?.reason?.startsWith('unhealthy')
  return state === 'fault' && isDraining && isWell
    ? { word: 'drained', tone: 'quiet' }
    : { word: state, tone: TONES[state] }
}

/** What happened last: `backup → master, vrrp`. */
export function moveText({ state, lastMove }: Part, isDraining: boolean): string {
  if (lastMove === null) return '–'
  const { from, to, reason } = lastMove
  const word = to === state ? partWord({ state, lastMove }, isDraining).word : to
  return `${from} → ${word}${reason === null || reason === word ? '' : `, ${reason}`}`
}
