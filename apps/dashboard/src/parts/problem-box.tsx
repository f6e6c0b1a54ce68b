import type { ReactNode } from 'react'
import { isExpired, problemText } from '../api/problem.ts'
import styles from './problem-box.module.css'

interface Props {
  readonly error: unknown
  /** What to do about it, such as a button. */
  readonly children?: ReactNode
}

/** Says what went wrong, at once also to screen readers. Of a session's end the dialog to log in again speaks. */
export const ProblemBox = ({ error, children }: Props) =>
  !isExpired(error) && (
    <div role="alert" className={styles.box}>
      <p>
        <bdi>{problemText(error)}</bdi>
      </p>
      {children}
    </div>
  )
