import { Button } from '../../parts/button.tsx'
import styles from './conflict.module.css'
import { Difference } from './difference.tsx'

interface Props {
  /** The version that the edited text began with, and the present one. */
  readonly before: string
  readonly after: string
  readonly onKeep: () => void
  readonly onTheirs: () => void
}

/** Shows what somebody else changed meanwhile, and asks how to go on. */
export const Conflict = ({ before, after, onKeep, onTheirs }: Props) => (
  <div role="alert" className={styles.conflict}>
    <p>
      <strong>Somebody else changed it meanwhile.</strong> What you typed is still below. This is what they changed:
    </p>
    <Difference before={before} after={after} />
    <div className={styles.actions}>
      <Button onPress={onKeep}>Keep my text, and save over it</Button>
      <Button onPress={onTheirs}>Drop my text, and begin with theirs</Button>
    </div>
  </div>
)
