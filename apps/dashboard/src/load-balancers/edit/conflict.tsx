import { Button } from '../../parts/button.tsx'
import styles from './conflict.module.css'
import { Difference } from './difference.tsx'

interface Props {
  /** What somebody else changed, such as `the weights`. */
  readonly what: string
  /** What the reader has done meanwhile, such as `chose`. */
  readonly did: string
  /** What it is as text: when the reader began, and now. */
  readonly before: string
  readonly after: string
  readonly keep: string
  readonly drop: string
  readonly onKeep: () => void
  readonly onTheirs: () => void
}

/** Shows what somebody else changed meanwhile, and asks how to go on. */
export const Conflict = ({ what, did, before, after, keep, drop, onKeep, onTheirs }: Props) => (
  <div role="alert" className={styles.conflict}>
    <p>
      <strong>Somebody else changed {what} meanwhile.</strong> What you {did} is still below. This is what they changed:
    </p>
    <Difference before={before} after={after} />
    <div className={styles.actions}>
      <Button onPress={onKeep}>{keep}</Button>
      <Button onPress={onTheirs}>{drop}</Button>
    </div>
  </div>
)
