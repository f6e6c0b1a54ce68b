import type { ReactNode } from 'react'
import styles from './table.module.css'

interface Props {
  /** What the rows are, for screen readers. */
  readonly label: string
  readonly head: readonly ReactNode[]
  /** `<tr>` elements with as many cells. */
  readonly children: ReactNode
}

/** A table of up to some hundred rows. It scrolls sideways on narrow screens. */
export const Table = ({ label, head, children }: Props) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <section className={styles.frame} tabIndex={0} aria-label={label}>
    <table className={styles.table}>
      <thead>
        <tr>
          {head.map((title, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
            <th key={at} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
)
