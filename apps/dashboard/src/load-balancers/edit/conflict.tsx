import { Button } from '../../parts/button.tsx'
import styles from './conflict.module.css'
import { lineDifference } from './line-difference.ts'

interface Props {
  /** The version that the edited text began with, and the present one. */
  readonly before: string
  readonly after: string
  readonly onKeep: () => void
  readonly onTheirs: () => void
}

const WORDS = { '+': 'added', '-': 'removed', ' ': '' } as const
const CLASSES = { '+': styles.added, '-': styles.removed, ' ': undefined } as const

/** Shows what somebody else changed meanwhile, and asks how to go on. */
export const Conflict = ({ before, after, onKeep, onTheirs }: Props) => (
  <div role="alert" className={styles.conflict}>
    <p>
      <strong>Somebody else changed it meanwhile.</strong> What you typed is still below. This is what they changed:
    </p>
    <pre className={styles.difference}>
      {lineDifference(before, after).map(({ sign, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines may be alike
        <span key={at} className={CLASSES[sign]}>
          <span aria-hidden="true">{sign} </span>
          {WORDS[sign] !== '' && <span className={styles.hidden}>{WORDS[sign]}: </span>}
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
    <div className={styles.actions}>
      <Button onPress={onKeep}>Keep my text, and save over it</Button>
      <Button onPress={onTheirs}>Drop my text, and begin with theirs</Button>
    </div>
  </div>
)
