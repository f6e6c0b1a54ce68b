import styles from './difference.module.css'
import { lineDifference } from './line-difference.ts'

interface Props {
  readonly before: string
  readonly after: string
}

const WORDS = { '+': 'added', '-': 'removed', ' ': '' } as const
const CLASSES = { '+': styles.added, '-': styles.removed, ' ': undefined } as const

/** What differs between two texts, line by line. Screen readers are told in words what is a sign for others. */
export const Difference = ({ before, after }: Props) => (
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
)
