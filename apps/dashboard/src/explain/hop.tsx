import type { ReactNode } from 'react'
import { Mark, type Tone } from '../parts/badge.tsx'
import styles from './explain-page.module.css'

interface Props {
  readonly tone: Tone
  /** What the place is, such as `Listener`. */
  readonly kind: string
  readonly title: ReactNode
  readonly children?: ReactNode
}

/** One place on the way of a request. */
export const Hop = ({ tone, kind, title, children }: Props) => (
  <li className={styles.hop}>
    <span className={styles.dot}>
      <Mark tone={tone} />
    </span>
    <div className={styles.place}>
      <p className={styles.kind}>{kind}</p>
      <h2 className={styles.name}>{title}</h2>
      {children}
    </div>
  </li>
)
