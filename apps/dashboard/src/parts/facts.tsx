import type { ReactNode } from 'react'
import styles from './facts.module.css'

/** Facts about one thing: what it is called, and what it is. */
export const Facts = ({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }) => (
  <dl className={styles.facts}>
    {of.map(([title, value]) => (
      <div key={title} className={styles.fact}>
        <dt>{title}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
