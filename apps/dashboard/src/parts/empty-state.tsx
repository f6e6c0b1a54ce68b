import type { ReactNode } from 'react'
import { Command } from './command.tsx'
import styles from './empty-state.module.css'

interface Props {
  readonly title: string
  readonly children: ReactNode
  /** The button that makes the first one. */
  readonly action?: ReactNode
  /** How to do the same in a terminal. */
  readonly commands?: readonly { readonly title: string; readonly text: string }[]
}

/** Stands where there is nothing yet, and teaches how to make the first one. */
export const EmptyState = ({ title, children, action, commands = [] }: Props) => (
  <section className={styles.empty}>
    <h2>{title}</h2>
    <p className={styles.text}>{children}</p>
    {action}
    {commands.length > 0 && (
      <div className={styles.commands}>
        {commands.map((command) => (
          <Command key={command.title} {...command} />
        ))}
      </div>
    )}
  </section>
)
