import type { ShardReport } from '@spout/model/node-report'
import type { Tone } from '../parts/badge.tsx'

const TONES: Readonly<Record<ShardReport['state'], Tone>> = {
  master: 'ok',
  backup: 'quiet',
  fault: 'bad',
  stopped: 'warn',
}

type Part = Pick<ShardReport, 'state' | 'lastMove'>

/** A node's part in a shard. A drained node is in state `fault`, which is what somebody asked for, and no fault. */
export const partWord = ({ state, lastMove }: Part): { readonly word: string; readonly tone: Tone } =>
  state === 'fault' && lastMove?.reason === 'drained'
    ? { word: 'drained', tone: 'quiet' }
    : { word: state, tone: TONES[state] }

/** What happened last: `backup → master, vrrp`. */
export function moveText({ state, lastMove }: Part): string {
  if (lastMove === null) return '–'
  const { from, to, reason } = lastMove
  const word = to === state ? partWord({ state, lastMove }).word : to
  return `${from} → ${word}${reason === null || reason === word ? '' : `, ${reason}`}`
}
