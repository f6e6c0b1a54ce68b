import type { AddressChange, ConnectionFate, NodeDifference, PartDifference, PlanDifference } from '@spout/model'
import type { Tone } from '../../parts/badge.tsx'
import { durationText } from '../../parts/time-text.ts'

/** What happens to open connections, in a word. */
export const FATE_WORDS: Readonly<Record<ConnectionFate['fate'], { readonly word: string; readonly tone: Tone }>> = {
  end: { word: 'End', tone: 'bad' },
  'may-end': { word: 'May end', tone: 'warn' },
  drain: { word: 'Drain', tone: 'warn' },
  stay: { word: 'Go on', tone: 'quiet' },
}

/** What becomes of an address. */
export function addressWords({ change, restSeconds }: AddressChange): string {
  switch (change) {
    case 'taken':
      return 'is taken'
    case 'bound':
      return 'is taken, and stays reserved for you'
    case 'unbound':
      return 'stays yours, and answers nowhere'
    case 'released':
      return restSeconds === 0
        ? 'is released, and free for others at once'
        : `is released, and free for others in ${durationText(restSeconds)}`
  }
}

export const CHANGE_WORDS = { added: 'Added', changed: 'Changed', removed: 'Removed', unchanged: 'Nothing' } as const

/** What differs in a part. */
export function partWords({ fields, slots, memberChanges }: PartDifference): string {
  const members = memberChanges === 0 ? [] : [`${memberChanges} member${memberChanges === 1 ? '' : 's'}`]
  const moved =
    slots === null || slots.moved === 0 ? [] : [`${slots.moved} of ${slots.size} hash slots get another member`]
  return [...fields, ...members, ...moved].join(', ')
}

/**
 * Whether a node announces the addresses, and whether that changes.
 * @param isElected of the nodes that may, one does: the master of the shard, which they elect
 */
export function announcesWords(
  { announces: { before, after } }: Pick<NodeDifference, 'announces'>,
  isElected: boolean,
): string {
  if (isElected && after) return 'Announces it while elected'
  if (before === after) return after ? 'Announces it' : 'Stands by'
  return after ? 'Begins to announce it' : 'No longer announces it'
}

export const PROXY_WORDS: Readonly<Record<NodeDifference['proxy'], string>> = {
  unchanged: '—',
  'run-time': 'Changed while it runs',
  'may-restart': 'May start anew, and keeps open connections',
}

/** One sentence, for the head of a preview and for screen readers. */
export function verdictOf({ connections }: Pick<PlanDifference, 'connections'>): {
  readonly tone: Tone
  readonly text: string
} {
  const fates = new Set(connections.map(({ fate }) => fate))
  if (fates.has('end')) return { tone: 'bad', text: 'Open connections end.' }
  if (fates.has('may-end')) return { tone: 'warn', text: 'Open connections may end.' }
  if (fates.has('drain')) return { tone: 'warn', text: 'Open connections to some members are given time to end.' }
  return { tone: 'ok', text: 'No open connection ends.' }
}
