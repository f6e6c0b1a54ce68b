import { useLiveState } from '../live/live-context.ts'
import type { LiveState } from '../live/live-stream.ts'
import { Mark, type Tone } from '../parts/badge.tsx'
import styles from './live-light.module.css'

const WORDS: Readonly<Record<LiveState, readonly [Tone, string]>> = {
  connecting: ['quiet', 'Connecting'],
  live: ['ok', 'Live'],
  lost: ['warn', 'Reconnecting'],
  ended: ['quiet', 'Not live'],
}

/** Whether the page shows changes as they happen. */
export function LiveLight() {
  const [tone, words] = WORDS[useLiveState()]
  return (
    <span role="status" className={styles.light}>
      <Mark tone={tone} />
      {words}
    </span>
  )
}
