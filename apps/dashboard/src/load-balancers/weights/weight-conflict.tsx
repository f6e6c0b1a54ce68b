import { Button } from '../../parts/button.tsx'
import { Difference } from '../edit/difference.tsx'
import styles from './weight-panel.module.css'
import { type Weighted, weightLines } from './weighted.ts'

interface Props {
  readonly before: readonly Weighted[]
  readonly after: readonly Weighted[]
  readonly onKeep: () => void
  readonly onTheirs: () => void
}

/** Shows which weights somebody else changed meanwhile, and asks how to go on. */
export const WeightConflict = ({ before, after, onKeep, onTheirs }: Props) => (
  <div role="alert" className={styles.conflict}>
    <p>
      <strong>Somebody else changed the weights meanwhile.</strong> What you chose is still below. This is what they
      changed:
    </p>
    <Difference before={weightLines(before)} after={weightLines(after)} />
    <div className={styles.actions}>
      <Button onPress={onKeep}>Keep my choice</Button>
      <Button onPress={onTheirs}>Drop my choice</Button>
    </div>
  </div>
)
