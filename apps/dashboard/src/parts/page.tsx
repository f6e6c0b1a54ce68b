import type { ReactNode } from 'react'
import styles from './page.module.css'

interface Props {
  readonly title: string
  /** What stands before the title's words, such as the way back. */
  readonly above?: ReactNode
  /** Beside the title: a badge. */
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A page: its title, in the window's title too, what can be done, and its content. */
export const Page = ({ title, above, beside, actions, children }: Props) => (
  <div className={styles.page}>
    <title>{`${title} · Spout`}</title>
    <header className={styles.head}>
      <div className={styles.words}>
        {above !== undefined && <div className={styles.above}>{above}</div>}
        <div className={styles.line}>
          <h1 className={styles.title}>
            <bdi>{title}</bdi>
          </h1>
          {beside}
        </div>
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </header>
    {children}
  </div>
)

/** A framed part of a page. */
export const Card = ({ title, children }: { readonly title?: ReactNode; readonly children: ReactNode }) => (
  <section className={styles.card}>
    {title !== undefined && <h2 className={styles.cardTitle}>{title}</h2>}
    {children}
  </section>
)
